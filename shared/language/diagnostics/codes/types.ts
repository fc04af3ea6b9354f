import { error, LOGIN, ORDER, program } from './descriptor.ts';

/** Codes about values that can never work where they stand. */
export const TYPE_CODES = {
  E040: error({
    title: 'assignment to an immutable',
    explanation: 'Only a `var` can be assigned.',
    example: program(
      LOGIN,
      'let seen = 0',
      'fn count(user: str):',
      '    seen := seen + 1',
      '    seen',
      'stream Seen = Login.emit(seen: count(user))',
    ),
    fix: program(
      LOGIN,
      'var seen = 0',
      'fn count(user: str):',
      '    seen := seen + 1',
      '    seen',
      'stream Seen = Login.emit(seen: count(user))',
    ),
  }),
  E051: error({
    title: 'wrong arguments',
    explanation: 'A function gets another number of arguments than it takes, or arguments in a form that functions do not know.',
    example: program(LOGIN, 'stream Seen = Login.where(starts_with(user)).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(starts_with(user, "a")).emit()'),
  }),
  E052: error({
    title: 'invalid regular expression',
    explanation: 'The regular expression cannot be read; the dialect is that of RE2.',
    example: program(LOGIN, "stream Seen = Login.where(regex_match(user, '(ann')).emit()"),
    fix: program(LOGIN, "stream Seen = Login.where(regex_match(user, '(ann)')).emit()"),
  }),
  E060: error({
    title: 'not a bool',
    explanation: 'A condition is neither true nor false.',
    example: program(LOGIN, 'stream Seen = Login.where(attempts).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(attempts > 0).emit()'),
  }),
  E061: error({
    title: 'not a duration',
    explanation: 'A length of time is needed, known before the program runs and written with its unit.',
    example: program(LOGIN, 'stream Seen = Login.dedupe(user, within: 60).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.dedupe(user, within: 60s).emit()'),
  }),
  E062: error({
    title: 'type mismatch',
    explanation: 'A value has a type with which this can never work.',
    example: program(LOGIN, 'stream Seen = Login.where(attempts == "three").emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(attempts == 3).emit()'),
  }),
  E071: error({
    title: 'wrong number of aggregate arguments',
    explanation: 'An aggregate gets another number of arguments than it takes.',
    example: program(ORDER, 'stream Totals = Order.window(5m).aggregate(half: percentile(amount)).emit(half: half)'),
    fix: program(ORDER, 'stream Totals = Order.window(5m).aggregate(half: percentile(amount, 0.5)).emit(half: half)'),
  }),
  E072: error({
    title: 'wrong type of an aggregate argument',
    explanation: 'An argument of an aggregate has a type it does not take, or should be known before the program runs.',
    example: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: sum(id)).emit(total: total)'),
    fix: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: sum(amount)).emit(total: total)'),
  }),
  E073: error({
    title: 'not an aggregate',
    explanation: 'A field of single events stands where only aggregates can, or an aggregate where it has nothing to go over.',
    example: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: amount).emit(total: total)'),
    fix: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: sum(amount)).emit(total: total)'),
  }),
  E081: error({
    title: 'wrong parameter',
    explanation:
      'A parameter has the wrong type, is out of range, is not known before the program runs, or is given twice. Where a server checks, it also names what that server does not have: a file outside of its work directory, a profile, an address.',
    example: program(ORDER, 'stream Some = Order.limit("ten").emit()'),
    fix: program(ORDER, 'stream Some = Order.limit(10).emit()'),
  }),
  E082: error({
    title: 'missing parameter',
    explanation: 'A parameter that the operator needs is not given, or a value has no name.',
    example: program(ORDER, 'stream Doubles = Order.emit(id: id, amount * 2)'),
    fix: program(ORDER, 'stream Doubles = Order.emit(id: id, double: amount * 2)'),
  }),
  E096: error({
    title: 'emit outside of .process',
    explanation: 'A function that emits events can be called by `.process` alone.',
    example: program(
      LOGIN,
      'event Seen: user: str',
      'fn note(user: str):',
      '    emit Seen(user: user)',
      '    true',
      'stream Notes = Login.where(note(user)).emit()',
    ),
    fix: program(
      LOGIN,
      'event Seen: user: str',
      'fn note(user: str):',
      '    emit Seen(user: user)',
      'stream Notes = Login.process(note(user))',
    ),
  }),
} as const;
