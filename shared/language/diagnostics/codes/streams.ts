import { error, LOGIN, ORDER, program } from './descriptor.ts';

/** Codes about operators and their order. */
export const STREAM_CODES = {
  E010: error({
    title: 'having before aggregate',
    explanation: '`.having` reads the results of an aggregate, which stands behind it here.',
    example: program(
      ORDER,
      'stream Totals = Order.window(5m)',
      '    .having(amount > 100)',
      '    .aggregate(total: sum(amount))',
      '    .emit(total: total)',
    ),
    fix: program(
      ORDER,
      'stream Totals = Order.window(5m)',
      '    .aggregate(total: sum(amount))',
      '    .having(total > 100)',
      '    .emit(total: total)',
    ),
  }),
  E011: error({
    title: 'second aggregate',
    explanation: 'A stream has one `.aggregate`; a second one stands in a stream of its own.',
    example: program(
      ORDER,
      'stream Totals = Order.window(5m)',
      '    .aggregate(total: sum(amount))',
      '    .aggregate(highest: max(total))',
      '    .emit(total: total)',
    ),
    fix: program(
      ORDER,
      'stream Totals = Order.window(5m).aggregate(total: sum(amount))',
      'stream Highest = Totals.window(1h).aggregate(highest: max(total)).emit(highest: highest)',
    ),
  }),
  E012: error({
    title: 'second window',
    explanation: 'A stream has one `.window`; a second one stands in a stream of its own.',
    example: program(ORDER, 'stream Totals = Order.window(5m).window(1h).aggregate(total: sum(amount)).emit(total: total)'),
    fix: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: sum(amount)).emit(total: total)'),
  }),
  E020: error({
    title: 'within without a pattern',
    explanation: '`.within` bounds a pattern, and the stream has none.',
    example: program(LOGIN, 'stream Seen = Login.within(5m).emit()'),
    fix: program(LOGIN, 'stream Seen = Login as a -> Login as b', '    .within(5m)', '    .emit(first: a.user, second: b.user)'),
  }),
  E021: error({
    title: 'operators that exclude each other',
    explanation: 'Two operators of a stream ask for what cannot be had together.',
    example: program(
      LOGIN,
      'stream Seen = Login as a -> Login+ as b',
      '    .within(5m)',
      '    .stam()',
      '    .subsets()',
      '    .emit(first: a.user, last: b.user)',
    ),
    fix: program(
      LOGIN,
      'stream Seen = Login as a -> Login+ as b',
      '    .within(5m)',
      '    .subsets()',
      '    .emit(first: a.user, last: b.user)',
    ),
  }),
  E092: error({
    title: 'operator cannot stand here',
    explanation: 'The operator has no meaning at this place of a stream or pattern.',
    example: program(LOGIN, 'stream Seen = Login.pattern(two: Login as a -> Login as b).emit()'),
    fix: program(LOGIN, 'stream Seen = Login as a -> Login as b', '    .within(5m)', '    .emit(first: a.user, second: b.user)'),
  }),
} as const;
