import { error, LOGIN, program } from './descriptor.ts';

const READ = 'stream Seen = Login.emit()';

/** Codes about declarations, imports and cycles. */
export const DECLARATION_CODES = {
  E000: error({
    title: 'syntax error',
    explanation: 'The text cannot be read as a program; the checker goes on with the next statement.',
    example: program(LOGIN, 'stream Seen = Login.where(attempts >).emit()'),
    fix: program(LOGIN, 'stream Seen = Login.where(attempts > 3).emit()'),
  }),
  E001: error({
    title: 'event or type declared twice',
    explanation: 'Two events or types have one name, or one of them has two fields of one name.',
    example: program(LOGIN, 'event Login: user: str', READ),
    fix: program(LOGIN, 'event AdminLogin: user: str', READ),
  }),
  E002: error({
    title: 'stream declared twice',
    explanation: 'Two streams have one name.',
    example: program(LOGIN, READ, 'stream Seen = Login.where(attempts > 3).emit()'),
    fix: program(LOGIN, READ, 'stream SeenOften = Login.where(attempts > 3).emit()'),
  }),
  E003: error({
    title: 'function declared twice',
    explanation: 'Two functions have one name; there is no overloading.',
    example: program(LOGIN, 'fn often(n: int): n > 3', 'fn often(n: int): n > 5', 'stream Seen = Login.where(often(attempts)).emit()'),
    fix: program(LOGIN, 'fn often(n: int): n > 3', 'stream Seen = Login.where(often(attempts)).emit()'),
  }),
  E004: error({
    title: 'connector declared twice',
    explanation: 'Two connectors have one name.',
    example: program(LOGIN, 'connector Log = console ()', 'connector Log = console ()', 'stream Seen = Login.to(Log)'),
    fix: program(LOGIN, 'connector Log = console ()', 'stream Seen = Login.to(Log)'),
  }),
  E005: error({
    title: 'context declared twice',
    explanation: 'Two contexts have one name.',
    example: program(LOGIN, 'context hot (cores: [0])', 'context hot (cores: [1])', 'stream Seen = Login.context(hot).emit()'),
    fix: program(LOGIN, 'context hot (cores: [0])', 'stream Seen = Login.context(hot).emit()'),
  }),
  E006: error({
    title: 'pattern declared twice',
    explanation: 'Two patterns have one name.',
    example: program(
      LOGIN,
      'pattern Twice = Login as a -> Login as b within 1m',
      'pattern Twice = Login as a -> Login as b within 2m',
      'stream Seen = Twice.emit(first: a.user, second: b.user)',
    ),
    fix: program(LOGIN, 'pattern Twice = Login as a -> Login as b within 1m', 'stream Seen = Twice.emit(first: a.user, second: b.user)'),
  }),
  E007: error({
    title: 'constant or variable declared twice',
    explanation: 'Two constants or variables of the program, two locals of one block, or two parameters have one name.',
    example: program(LOGIN, 'const LIMIT = 3', 'let LIMIT = 5', 'stream Seen = Login.where(attempts > LIMIT).emit()'),
    fix: program(LOGIN, 'const LIMIT = 3', 'stream Seen = Login.where(attempts > LIMIT).emit()'),
  }),
  E008: error({
    title: 'cycle',
    explanation: 'A stream, a type, a value or an import depends on itself.',
    example: program(LOGIN, 'stream Seen = merge(Login, SeenOften).emit()', 'stream SeenOften = Seen.where(attempts > 3).emit()'),
    fix: program(LOGIN, READ, 'stream SeenOften = Seen.where(attempts > 3).emit()'),
  }),
  E093: error({
    title: 'WebAssembly import',
    explanation: 'Only files of the language can be imported.',
    example: program('import "score.wasm"', LOGIN, READ),
    fix: program('fn score(n: int): n * 2', LOGIN, 'stream Seen = Login.emit(score: score(attempts))'),
  }),
  E095: error({
    title: 'program too large',
    explanation:
      'The program goes over one of the limits that keep checking and running it within bounds: the text of a file, values of a compile-time `for`, statements, operators of a stream, fields of its rows, types in one another, imports deep. The message names what was found and the limit.',
    example: program(LOGIN, 'for i in 0..100000:', '    stream Seen{i} = Login.where(attempts == {i}).emit()'),
    fix: program(LOGIN, 'for i in 0..10:', '    stream Seen{i} = Login.where(attempts == {i}).emit()'),
  }),
  E097: error({
    title: 'import cannot be read',
    explanation: 'There is no such file, relative to the file that the import stands in.',
    example: program('import "missing.vpl"', LOGIN, READ),
    fix: program(LOGIN, READ),
  }),
} as const;
