import { error, LOGIN, ORDER, program } from './descriptor.ts';

/** Codes about names that mean nothing here. */
export const NAME_CODES = {
  E030: error({
    title: 'unknown connector',
    explanation: 'The program declares no connector of this name, and none is registered with the server.',
    example: program(LOGIN, 'connector Log = console ()', 'stream Seen = Login.to(Logs)', 'stream Others = Login.to(Log)'),
    fix: program(LOGIN, 'connector Log = console ()', 'stream Seen = Login.to(Log)'),
  }),
  E031: error({
    title: 'unknown context',
    explanation: 'The program declares no context of this name.',
    example: program(LOGIN, 'stream Seen = Login.context(hot).emit()'),
    fix: program(LOGIN, 'context hot (cores: [0])', 'stream Seen = Login.context(hot).emit()'),
  }),
  E032: error({
    title: 'connector cannot do this',
    explanation: 'This type of connector gives no events, takes none, or cannot look anything up.',
    example: program(LOGIN, 'connector Log = console ()', 'stream Seen = Login.from(Log).emit()'),
    fix: program(LOGIN, 'connector Log = console ()', 'stream Seen = Login.to(Log)'),
  }),
  E033: error({
    title: 'unknown event, stream, pattern or type',
    explanation: 'A name after `extends`, before `.late`, in a test, behind the alias of an import, or of a type is declared nowhere.',
    example: program(LOGIN, 'event AdminLogin extends Logins:', '    role: str', 'stream Seen = AdminLogin.emit()'),
    fix: program(LOGIN, 'event AdminLogin extends Login:', '    role: str', 'stream Seen = AdminLogin.emit()'),
  }),
  E034: error({
    title: 'unknown field or name',
    explanation: 'A name is neither a field of the event nor anything else that is known here.',
    example: program(LOGIN, 'stream Seen = Login.where(attemps > 3).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(attempts > 3).emit()'),
  }),
  E035: error({
    title: 'unknown alias',
    explanation: 'What stands before a dot is no alias, side of a join, or import.',
    example: program(
      LOGIN,
      'stream Seen = Login as a -> Login where user == c.user as b',
      '    .within(1m)',
      '    .emit(first: a.ip, second: b.ip)',
    ),
    fix: program(
      LOGIN,
      'stream Seen = Login as a -> Login where user == a.user as b',
      '    .within(1m)',
      '    .emit(first: a.ip, second: b.ip)',
    ),
  }),
  E050: error({
    title: 'unknown function',
    explanation: 'Neither the language nor the program has a function of this name.',
    example: program(LOGIN, 'stream Seen = Login.where(uper(user) == "ANN").emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(upper(user) == "ANN").emit()'),
  }),
  E070: error({
    title: 'unknown aggregate',
    explanation: 'There is no aggregate and no function of this name.',
    example: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: sums(amount)).emit(total: total)'),
    fix: program(ORDER, 'stream Totals = Order.window(5m).aggregate(total: sum(amount)).emit(total: total)'),
  }),
  E080: error({
    title: 'unknown parameter',
    explanation: 'The operator or connector has no parameter of this name.',
    example: program(ORDER, 'stream Totals = Order.window(5m, hop: 1m).aggregate(total: sum(amount)).emit(total: total)'),
    fix: program(ORDER, 'stream Totals = Order.window(5m, sliding: 1m).aggregate(total: sum(amount)).emit(total: total)'),
  }),
  E091: error({
    title: 'unknown operator',
    explanation: 'Streams have no operator of this name.',
    example: program(LOGIN, 'stream Seen = Login.wher(attempts > 3).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(attempts > 3).emit()'),
  }),
  E094: error({
    title: 'unknown connector type',
    explanation: 'This build has no connector of this type.',
    example: program(LOGIN, 'connector Log = konsole ()', 'stream Seen = Login.to(Log)'),
    fix: program(LOGIN, 'connector Log = console ()', 'stream Seen = Login.to(Log)'),
  }),
} as const;
