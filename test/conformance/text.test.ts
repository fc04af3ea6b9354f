import { describe, expect, it } from 'vitest';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { diagnosticsOf, equations, reports, runs } from './conformance.ts';

/** §1 of the language reference, and what §15 and §16 add to it. */
describe('comments', () => {
  runs([
    ['# starts a comment to the end of the line', 'stream S = A.emit(v: 1) # .where(false)\n# all', 'A {}', 'S {"v":1}'],
    ['# in a string is no comment', 'stream S = A.emit(v: "a # b")', 'A {}', 'S {"v":"a # b"}'],
    ['/* .. */ is a comment within a line', 'stream S = A/* c */.emit(v: /* d */ 1)', 'A {}', 'S {"v":1}'],
    ['/* .. */ may span lines', 'stream S = A /* one\ntwo */ .emit(v: 1)', 'A {}', 'S {"v":1}'],
    ['block comments do not nest', '/* a /* b */ stream S = A.emit(v: 1)', 'A {}', 'S {"v":1}'],
    ['// starts a comment at the start of a line', '// c\nstream S = A.emit(v: 1)', 'A {}', 'S {"v":1}'],
    ['// starts a comment after a blank', 'stream S = A.emit(v: 1) // c', 'A {}', 'S {"v":1}'],
    ['// in a string is no comment', 'stream S = A.emit(v: "http://x /y //z")', 'A {}', 'S {"v":"http://x /y //z"}'],
    ['/* in a string is no comment', 'stream S = A.emit(v: "/* x */")', 'A {}', 'S {"v":"/* x */"}'],
    ['# in a raw string is no comment', "stream S = A.emit(v: '# x')", 'A {}', 'S {"v":"# x"}'],
    ['a comment between lines of a chain', 'stream S = A\n  # keep\n  .where(x > 1)\n\n  // out\n  .emit(v: 1)', 'A { x: 2 }', 'S {"v":1}'],
    [
      'a comment in an event block',
      'event A:\n    # first\n    x: int # the x\n\n    y: int\nstream S = A.emit(v: x + y)',
      'A { x: 2, y: 3 }',
      'S {"v":5}',
    ],
  ]);
  reports([
    ['a nested block comment ends at the first */', '/* a /* b */ */\nstream S = A.emit()', 'E000 1:14'],
    ['an unterminated block comment', 'let a = 1\n/* x\ny', 'E000 2:1'],
  ]);
});

describe('statements and lines', () => {
  const continued = (operator: string, left: string, right: string, value: unknown) =>
    [
      `a line goes on with ${operator}`,
      `let x = ${left}\n    ${operator} ${right}\nstream S = A.emit(v: x)`,
      'A {}',
      `S ${JSON.stringify({ v: value })}`,
    ] as const;
  runs([
    continued('and', 'true', 'false', false),
    continued('or', 'false', 'true', true),
    continued('&&', 'true', 'false', false),
    continued('||', 'false', 'true', true),
    continued('+', '1', '2', 3),
    continued('-', '1', '2', -1),
    continued('*', '2', '3', 6),
    continued('/', '1', '2', 0.5),
    continued('%', '5', '3', 2),
    continued('**', '2', '3', 8),
    continued('??', 'null', '2', 2),
    continued('==', '1', '2', false),
    continued('!=', '1', '2', true),
    continued('<', '1', '2', true),
    continued('<=', '1', '2', true),
    continued('>', '1', '2', false),
    continued('>=', '1', '2', false),
    continued('in', '1', '[1]', true),
    continued('not in', '1', '[1]', false),
    continued('is', 'null', 'null', true),
    continued('is not', 'null', 'null', false),
    continued('|', '1', '2', 3),
    continued('&', '3', '2', 2),
    continued('^', '3', '2', 1),
    continued('<<', '1', '2', 4),
    continued('>>', '4', '1', 2),
    ['a line goes on with ..', 'let x = 0\n  ..3\nstream S = A.emit(v: len(x))', 'A {}', 'S {"v":3}'],
    ['a line goes on with ..=', 'let x = 0\n  ..=3\nstream S = A.emit(v: len(x))', 'A {}', 'S {"v":4}'],
    ['a line goes on while a bracket is open', 'let x = [\n1,\n\n# c\n2\n]\nstream S = A.emit(\nv: sum(\nx))', 'A {}', 'S {"v":3}'],
    [
      'a line goes on with ->, where, as, within and partition',
      `
stream S = A
    where x > 1
    as a
    -> B
    as b
    within 5s
    partition by k
    .emit(v: a.x, w: b.x)`,
      '@0 A { x: 2, k: 1 }\n@1 B { x: 3, k: 2 }\n@2 B { x: 4, k: 1 }',
      'S {"v":2,"w":4}',
    ],
    ['a statement ends at the end of its line', 'let a = 1\nlet b = a\nstream S = A.emit(v: b)', 'A {}', 'S {"v":1}'],
    ['Windows line ends', 'event A:\r\n    x: int\r\nstream S = A\r\n    .where(x > 1)\r\n    .emit(v: x)\r\n', 'A { x: 2 }', 'S {"v":2}'],
    ['a byte order mark is passed over', '\uFEFFstream S = A.emit(v: 1)', 'A {}', 'S {"v":1}'],
    ['a program without an end of line', 'event A: x: int\nstream S = A.emit(v: x)', 'A { x: 2 }', 'S {"v":2}'],
    ['a line with an operator word as name', 'let within1 = 3\nlet asx = 4\nstream S = A.emit(v: within1 + asx)', 'A {}', 'S {"v":7}'],
  ]);
  reports([
    ['two statements on a line', 'let a = 1 let b = 2', 'E000 1:11'],
    ['a line does not go on because it ends with an operator', 'let a = 1 +\n    2', 'E000 1:12'],
    ['a bracket that is never closed', 'let a = (1\n', 'E000 1:9'],
    ['positions behind a byte order mark count from the text', '\uFEFFlet a = nope', 'E034 1:9'],
    ['columns are code points', 'let a = "😀é" + nope', 'E034 1:16'],
    ['lines count Windows line ends once', 'let a = 1\r\nlet b = nope\r\n', 'E034 2:9'],
    ['an empty program is right', ''],
    ['a program of blanks and comments is right', '\n  \n# x\n/* y */\n'],
  ]);
  it('an empty program has no statements', () => {
    expect(check(new SourceText('p.vpl', '')).statements).toBe(0);
    expect(check(new SourceText('p.vpl', '\n# c\n')).plan).not.toBeNull();
  });
});

describe('blocks', () => {
  runs([
    ['with spaces', 'event A:\n  x: int\n  y: int\nstream S = A.emit(v: x + y)', 'A { x: 1, y: 2 }', 'S {"v":3}'],
    ['with tabs', 'event A:\n\tx: int\n\ty: int\nstream S = A.emit(v: x + y)', 'A { x: 1, y: 2 }', 'S {"v":3}'],
    ['one-line form', 'event A: x: int, y: int\nstream S = A.emit(v: x + y)', 'A { x: 1, y: 2 }', 'S {"v":3}'],
    ['one-line form with a trailing comment', 'event A: x: int, y: int # c\nstream S = A.emit(v: x + y)', 'A { x: 1, y: 2 }', 'S {"v":3}'],
    [
      'in an event block any word: is a field',
      `
event A:
    stream: int
    where: int
    within: int
    and: int
    let: int
stream S = A.emit(v: stream + where + within + let + \`and\`)`,
      'A { stream: 1, where: 2, within: 3, and: 4, let: 5 }',
      'S {"v":15}',
    ],
    [
      'blocks of a function nest',
      'fn f(n: int) -> int:\n  if n > 1:\n    if n > 2:\n      return 3\n    return 2\n  return 1\nstream S = A.emit(a: f(1), b: f(2), c: f(3))',
      'A {}',
      'S {"a":1,"b":2,"c":3}',
    ],
    [
      'each block may be indented in its own way',
      'fn f() -> int:\n  return 1\nfn g() -> int:\n\treturn 2\nstream S = A.emit(v: f() + g())',
      'A {}',
      'S {"v":3}',
    ],
  ]);
  reports([
    ['a mix of tabs and spaces is one error', 'event A:\n    x: int\n\ty: int', 'E000 3:1'],
    ['a mix of tabs and spaces in one line', 'event A:\n \tx: int', 'E000 2:2'],
    ['an indentation that fits no block', 'fn f():\n    let a = 1\n  let b = 2', 'E000 3:1'],
    ['a line indented without a block', 'let a = 1\n    let b = 2', 'E000 2:5'],
  ]);
});

describe('names', () => {
  runs([
    [
      'words have boundaries',
      'event A: notes: int, android: int, order: int, inside: int, island: int, trueish: int, nullable: int, iffy: int\nstream S = A.emit(v: notes + android + order + inside + island + trueish + nullable + iffy)',
      'A { notes: 1, android: 2, order: 3, inside: 4, island: 5, trueish: 6, nullable: 7, iffy: 8 }',
      'S {"v":36}',
    ],
    [
      'the contextual words are names of fields',
      'event A: all: int, any: int, first: int, last: int, as: int, in: int, where: int\nstream S = A.emit(v: all + any + first + last + as + in + where)',
      'A { all: 1, any: 2, first: 3, last: 4, as: 5, in: 6, where: 7 }',
      'S {"v":28}',
    ],
    [
      'and can be read through an alias',
      'stream S = A as a .emit(v: a.all + a.in + a.where + a.as + a.not)',
      'A { all: 1, in: 2, where: 3, as: 4, "not": 5 }',
      'S {"v":15}',
    ],
    [
      'names of operators are names of fields',
      'event A: emit: int, window: int, limit: int, select: int, map: int\nstream S = A.where(emit == 1).emit(v: emit + window + limit + select + map)',
      'A { emit: 1, window: 2, limit: 3, select: 4, map: 5 }',
      'S {"v":15}',
    ],
    [
      'and are compared in a filter',
      'event A: in: int\nstream S = A.where(in in [1, 2]).emit(v: in)',
      'A { in: 1 }\nA { in: 3 }',
      'S {"v":1}',
    ],
    [
      'names of emitted fields',
      'stream S = A.emit(where: 1, in: 2, all: 3, if: 4, not: 5)',
      'A {}',
      'S {"where":1,"in":2,"all":3,"if":4,"not":5}',
    ],
    [
      'declaration words are names of values',
      'let stream = 1\nlet event = stream + 1\nstream S = A.emit(v: event + stream)',
      'A {}',
      'S {"v":3}',
    ],
    [
      'every other word may be a name',
      'let within = 1\nlet for = 2\nlet while = 3\nlet return = 4\nlet is = 5\nlet import = 6\nstream S = A.emit(v: within + for + while + return + is + import)',
      'A {}',
      'S {"v":21}',
    ],
    [
      'in backticks, bare',
      'event A:\n    `cs-uri-query`: str\nstream S = A.emit(v: `cs-uri-query`)',
      'A { "cs-uri-query": "q" }',
      'S {"v":"q"}',
    ],
    [
      'in backticks, through an alias',
      'stream S = A as p .emit(v: p.`sc-status`, `a b`: 1)',
      'A { "sc-status": 200 }',
      'S {"v":200,"a b":1}',
    ],
    ['underscores and digits', 'let _a1 = 1\nlet _ = 2\nstream S = A.emit(v: _a1 + _)', 'A {}', 'S {"v":3}'],
  ]);
  for (const word of ['true', 'false', 'null', 'and', 'or', 'not', 'if', 'then', 'else'])
    it(`${word} is no name of a value`, () => {
      expect(diagnosticsOf(`let ${word} = 1\n`)[0]).toBe('E000 1:5');
    });
  reports([
    ['a name does not start with a digit', 'let 1a = 1', 'E000 1:5'],
    ['a name has no other letters', 'let é = 1', 'E000 1:5'],
  ]);
});

describe('literals', () => {
  equations([
    ['int', '42', 42],
    ['int with underscores', '1_000', 1000],
    ['the largest int', '9007199254740991', 9007199254740991],
    ['the smallest int', '-9007199254740991', -9007199254740991],
    ['float', '1.5', 1.5],
    ['float with an exponent', '1e3', 1000],
    ['float with a negative exponent', '2.5e-3', 0.0025],
    ['float with a capital exponent', '2.5E+3', 2500],
    ['str with escapes', '"a\\n\\t\\r\\"\\\\\\u{1F600}b"', 'a\n\t\r"\\\u{1F600}b'],
    ['raw str keeps backslashes', "'C:\\new\\d+'", 'C:\\new\\d+'],
    ['raw str with a quote', "'it''s'", "it's"],
    ['str is not interpolated', '"{x}"', '{x}', 'x: 1'],
    ['raw str is not interpolated', "'{x}'", '{x}', 'x: 1'],
    ['f-string is', 'f"x={x + 1}!"', 'x=2!', 'x: 1'],
    ['f-string braces', 'f"{{{x}}}"', '{1}', 'x: 1'],
    ['f-string with strings inside', 'f"{if x > 0 then "a" else "b"}"', 'a', 'x: 1'],
    ['f-string with a map inside', 'f"{ {k: 2}.k }"', '2'],
    ['f-string with escapes', 'f"a\\t{x}\\u{41}"', 'a\t1A', 'x: 1'],
    ['an f-string of null', 'f"{x}"', 'null'],
    ['ms', '500ms', 500],
    ['s', '30s', 30_000],
    ['m', '5m', 300_000],
    ['h', '1h', 3_600_000],
    ['d', '2d', 172_800_000],
    ['w', '1w', 604_800_000],
    ['us', '1500us', 1.5],
    ['ns', '1000ns', 0.001],
    ['compound duration', '1h30m', 5_400_000],
    ['compound duration of three', '1d2h3s', 93_603_000],
    ['date', '@2026-01-31', Date.UTC(2026, 0, 31)],
    ['time', '@2026-01-31T10:00:00Z', Date.UTC(2026, 0, 31, 10)],
    ['time with a fraction', '@2026-01-31T10:00:00.250Z', Date.UTC(2026, 0, 31, 10, 0, 0, 250)],
    ['time with an offset', '@2026-01-31T10:00:00+02:00', Date.UTC(2026, 0, 31, 8)],
    ['time with a negative offset', '@2026-01-31T10:00:00-02:30', Date.UTC(2026, 0, 31, 12, 30)],
    ['bool', '[true, false]', [true, false]],
    ['null', 'null', null],
    ['array', '[1, 2]', [1, 2]],
    ['array with a trailing comma', '[1, 2,]', [1, 2]],
    ['empty array', '[]', []],
    ['map', '{k: 1, "a b": 2}', { k: 1, 'a b': 2 }],
    ['map with a trailing comma', '{k: 1,}', { k: 1 }],
    ['empty map', '{}', {}],
    ['field called like a unit', 'ms + s', 3, 'ms: 1, s: 2'],
  ]);
  reports([
    ['an int beyond 2^53-1', 'let a = 9007199254740992', 'E000 1:9'],
    ['an int below -(2^53-1)', 'let a = -9007199254740992', 'E000 1:10'],
    ['an unknown escape', 'let a = "C:\\Windows"', 'E000 1:12'],
    ['a string over several lines', 'let a = "x\ny', 'E000 1:9', 'E000 2:1'],
    ['a raw string over several lines', "let a = 'x\ny", 'E000 1:9', 'E000 2:1'],
    ['an unterminated string', 'let a = "x', 'E000 1:9'],
    ['a date that is none', 'let a = @2026-02-30', 'E000 1:9'],
    ['an unknown unit', 'let a = 5parsecs', 'E000 1:9'],
    ['a code point that is none', 'let a = "\\u{110000}"', 'E000 1:10'],
  ]);
  it('the hint for an unknown escape offers a raw string', () => {
    const [first] = check(new SourceText('p.vpl', 'let a = "C:\\Windows"\n')).diagnostics;
    expect(first?.hint).toContain("'");
  });
});

describe('precedence, low to high', () => {
  equations([
    ['* before +', '1 + 2 * 3', 7],
    ['- is left-associative', '10 - 3 - 2', 5],
    ['/ is left-associative', '16 / 4 / 2', 2],
    ['% with *', '7 % 4 * 2', 6],
    ['** before unary -', '-2 ** 2', -4],
    ['** is right-associative', '2 ** 3 ** 2', 512],
    ['** takes a unary right operand', '2 ** -1', 0.5],
    ['unary - before *', '-2 * 3', -6],
    ['~ before +', '~1 + 1', -1],
    ['shift below +', '1 << 1 + 1', 4],
    ['& below shift', '7 & 1 << 1', 2],
    ['^ below &', '1 ^ 3 & 2', 3],
    ['| below ^', '4 | 1 ^ 1', 4],
    ['comparison below |', '1 | 2 == 3', true],
    ['not below comparison', 'not 1 == 2', true],
    ['not below in', 'not 1 in [2]', true],
    ['and below not', 'not false and false', false],
    ['or below and', 'true or false and false', true],
    ['?? below or', 'false or null ?? true', false],
    ['range below ??', 'len(0..null ?? 3)', 3],
    ['if below ??', 'if true then null else 1 ?? 2', null],
    ['if takes the whole else', 'if false then 1 else 2 + 3', 5],
    ['if nests in else', 'if false then 1 else if false then 2 else 3', 3],
    ['postfix before unary', '-x.y', -3, 'x: {y: 3}'],
    ['postfix before **', 'x.y ** 2', 9, 'x: {y: 3}'],
    ['index', '[1, 2, 3][1]', 2],
    ['slice', '[1, 2, 3, 4][1:3]', [2, 3]],
    ['slice without start', '[1, 2, 3, 4][:2]', [1, 2]],
    ['slice without end', '[1, 2, 3, 4][2:]', [3, 4]],
    ['slice of a string', '"héllo"[1:3]', 'él'],
    ['optional field', 'x?.y', null],
    ['lambda below everything', 'map([1, 2], x => if x > 1 then x + 1 else x ?? 0)', [1, 3]],
    ['&& || ! mean and or not', '!false && (false || true)', true],
    ['! is not', '!1 == 2', true],
    ['..= includes', 'sum(1..=3)', 6],
    ['.. leaves out', 'sum(1..3)', 3],
    ['is not null', '1 is not null', true],
    ['not in', '1 not in [1]', false],
    ['a comparison of comparisons in brackets', '(1 < 2) == true', true],
  ]);
  reports([['lambdas are arguments only', 'let a = x => x', 'E062 1:9']]);
});

describe('comparisons do not chain', () => {
  reports([
    ['comparisons do not chain: one error, at the second operator', 'let a = 1 < 2 < 3', 'E000 1:15'],
    ['equality does not chain, at the second operator', 'let a = 1 == 1 == true', 'E000 1:16'],
    ['in does not chain, at the second operator', 'let a = 1 in [1] == true', 'E000 1:18'],
  ]);
});

describe('texts that are no programs', () => {
  it.each([
    ['a program of 1 MiB on one line', `let a = ${'1 + '.repeat(262_000)}1`],
    ['100,000 open brackets', `let a = ${'('.repeat(100_000)}`],
    ['100,000 nested brackets', `let a = ${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
    ['100,000 array brackets', `let a = ${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['100,000 nots', `let a = ${'not '.repeat(100_000)}true`],
    ['100,000 minus signs', `let a = ${'- '.repeat(100_000)}1`],
    ['100,000 closing brackets', ')'.repeat(100_000)],
    ['a string of 1 MiB', `let a = "${'x'.repeat(1_048_000)}"`],
    ['zero characters and half surrogates', 'let a = "\u0000\ud800"\nstream \u0000 = A'],
    ['replacement characters', '\ufffd\ufffd let a'],
  ])('%s are checked in time', (_, program) => {
    const start = performance.now();
    check(new SourceText('p.vpl', program));
    expect(performance.now() - start).toBeLessThan(15_000);
  });
});
