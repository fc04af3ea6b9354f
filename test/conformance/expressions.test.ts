import { describe } from 'vitest';
import { equations, failures, reports, runs } from './conformance.ts';

/** §2 of the language reference, and what §15 and §16 add to it. */
describe('numbers', () => {
  equations([
    ['int and float are equal by value', '7 == 7.0', true],
    ['and compare', '[7 < 7.5, 7.5 >= 7]', [true, true]],
    ['+', '1 + 2.5', 3.5],
    ['/ is true division', '7 / 2', 3.5],
    ['div truncates', '[div(7, 2), div(-7, 2)]', [3, -3]],
    ['division by zero is null', '[1 / 0, 0 / 0, div(1, 0), 1 % 0]', [null, null, null, null]],
    ['division by zero of fields', '[a / b, a % b]', [null, null], 'a: 1, b: 0'],
    ['% has the sign of the dividend', '[7 % 3, -7 % 3, 7 % -3]', [1, -1, 1]],
    ['% of floats', '5.5 % 2', 1.5],
    ['overflow is null', '[1e308 * 10, a * 1e308]', [null, null], 'a: 1e308'],
    ['** overflow is null', 'a ** 10000', null, 'a: 10'],
    ['a root of a negative is null', '(-8) ** 0.5', null],
    ['bit operators', '[6 & 3, 6 | 3, 6 ^ 3, 1 << 4, 16 >> 2, ~5]', [2, 7, 5, 16, 4, -6]],
    ['bit operators go to 53 bits', 'a | 1', 9007199254740991, 'a: 9007199254740990'],
    ['a shift beyond 53 bits is null', 'a << 60', null, 'a: 1'],
    ['bit operators on a fraction are null', 'a & 1', null, 'a: 1.5'],
  ]);
});

describe('null', () => {
  equations([
    ['a missing field is null', '[x, x == null, x is null, x is not null, x != null]', [null, true, true, false, false]],
    ['a null field is null', '[x == null, x is null, null == x]', [true, true, true], 'x: null'],
    ['arithmetic with null is null', '[x + 1, 1 - x, x * 2, x / 2, x % 2, x ** 2, -x]', [null, null, null, null, null, null, null]],
    ['bits with null are null', '[x & 1, ~x]', [null, null]],
    ['string functions of null are null', '[upper(x), len(x), trim(x), x + "a", starts_with(x, "a")]', [null, null, null, null, null]],
    ['comparisons with null are null', '[x == 1, x != 1, x < 1, x > "a"]', [null, null, null, null]],
    ['two null variables compare to null', '[x == y, x != y]', [null, null]],
    ['and treats null as false', '[x and true, true and x, false and x]', [false, false, false]],
    ['or treats null as false', '[x or true, true or x, x or false, x or y]', [true, true, false, false]],
    ['null literals in and, or, not', '[null or null, null and true, not null]', [false, false, true]],
    ['not null is true', 'not x', true],
    ['and short-circuits', 'false and (x + 1 > 0)', false, 'x: "a"'],
    ['or short-circuits', 'true or (x + 1 > 0)', true, 'x: "a"'],
    ['?? takes the right when null', '[x ?? 1, y ?? 1, null ?? null]', [1, 2, null], 'y: 2'],
    ['?? keeps false and zero', '[x ?? 1, y ?? true]', [0, false], 'x: 0, y: false'],
    ['a?.b on null', '[x?.b, x.b, x?.b.c]', [null, null, null]],
    ['a?.b on a map', '[x?.b, x.b]', [1, 1], 'x: {b: 1}'],
    ['an index of null', 'x[0]', null],
    ['null in an array', '[x in [1], null in [1], 1 in x, contains(x, 1), abs(x)]', [null, null, null, null, null]],
    ['if null takes the else', 'if x then 1 else 2', 2],
    ['if of the literal null', 'if null then 1 else 2', 2],
    ['min and max skip nulls', '[min(x, 3), max(2, x), min([x, 4, 5])]', [3, 2, 4]],
    ['to_string of null', 'to_string(x)', 'null'],
    ['is null of a computed null', '(1 / x) is null', true, 'x: 0'],
    [
      'is_* of null is false',
      '[is_int(x), is_float(x), is_string(x), is_bool(x), is_array(x), is_map(x), is_null(x)]',
      [false, false, false, false, false, false, true],
    ],
    [
      'sqrt, log and to_int outside of what they know',
      '[sqrt(-1), log(0), to_int("abc"), to_float("x"), to_bool("maybe")]',
      [null, null, null, null, null],
    ],
    ['an index out of range', '[[1][5], [1][-2], "ab"[7]]', [null, null, null]],
    ['nor can an item be put there', '[set([1], 1, 5), set([1], -2, 5), set([1], -1, 5)]', [null, null, [5]]],
    ['bounds in the wrong order', 'clamp(3, 5, 1)', null],
    ['a missing key of a map', '[{a: 1}.b, {a: 1}["b"]]', [null, null]],
  ]);
  runs([
    [
      'a filter passes only on true',
      'stream S = T.where(x).emit(i: i)',
      'T { i: 1, x: true }\nT { i: 2, x: false }\nT { i: 3 }\nT { i: 4, x: null }',
      'S {"i":1}',
    ],
    ['a comparison with null passes no filter', 'stream S = T.where(x != 1).emit(i: i)', 'T { i: 1, x: 2 }\nT { i: 2 }', 'S {"i":1}'],
  ]);
});

describe('kinds', () => {
  equations([
    ['+ joins strings', '"a" + "b"', 'ab'],
    ['strings order by code point', '["a" < "b", "Z" < "a", "\\u{FFFF}" < "\\u{10000}", "ab" < "abc"]', [true, true, true, true]],
    ['code points beyond the first plane order behind', 'x < y', true, 'x: "\uFF5E", y: "😀"'],
    [
      'false is before true',
      '[x < y, x >= y, false < true, max([x, y]), sort([y, x])]',
      [true, false, true, true, [false, true]],
      'x: false, y: true',
    ],
    ['different kinds never order', '[x < 1, x >= 1]', [null, null], 'x: "a"'],
    ['different kinds are never equal', '[x == 1, x != 1]', [false, true], 'x: "1"'],
    ['bool is no number', '[x == 1, x < 2]', [false, null], 'x: true'],
    ['arrays are equal by value', '[[1, 2] == [1, 2.0], [1] == [2], x == [1]]', [true, false, true], 'x: [1]'],
    ['maps are equal by value', '{a: 1, b: 2} == {b: 2, a: 1}', true],
    ['duration plus duration', '1m + 30s', 90_000],
    ['duration minus duration', '1m - 30s', 30_000],
    ['duration plus timestamp', '[@2026-01-31 + 1d, 1d + @2026-01-31]', [Date.UTC(2026, 1, 1), Date.UTC(2026, 1, 1)]],
    ['timestamp minus duration', '@2026-01-31 - 1d', Date.UTC(2026, 0, 30)],
    ['timestamp minus timestamp', 'to_string(@2026-01-31 - @2026-01-30)', '1d'],
    ['duration times a number', '[30s * 2, 2 * 30s, 1m / 2]', [60_000, 60_000, 30_000]],
    ['duration by duration is a float', '1m / 40s', 1.5],
    ['a duration compared with a number counts ms', '[1s == 1000, 1s > 999, 1000 >= 1s]', [true, true, true]],
    ['timestamps order', '@2026-01-31 < @2026-02-01', true],
    ['a negative duration', '-(30s)', -30_000],
    ['in a string', '["b" in "abc", "x" in "abc", "x" not in "abc"]', [true, false, true]],
    ['in a map is its key', '["a" in {a: 1}, "b" in {a: 1}]', [true, false]],
    ['in an array', '[1 in [1, 2], 1.0 in [1, 2], x in [1, 2]]', [true, true, false], 'x: "1"'],
    ['in of a field', 'x in ["a", "b"]', true, 'x: "a"'],
    ['index from the end', '[[1, 2, 3][-1], "abc"[-1]]', [3, 'c']],
    ['slice from the end', '[[1, 2, 3][-2:], "abc"[:-1]]', [[2, 3], 'ab']],
    ['slices beyond the ends', '[[1, 2][0:9], "ab"[1:9], [1][3:4]]', [[1, 2], 'b', []]],
    ['field names that are no identifier', 'x["a b"]', 1, 'x: {"a b": 1}'],
    ['map of a name', 'x.k', 1, 'x: {k: 1}'],
  ]);
  failures([
    ['a type error at run time', 'x + 1', 'x: "a"'],
    ['a product of a string', 'x * 2', 'x: "a"'],
    ['minus of a string', '-x', 'x: "a"'],
    ['upper of a number', 'upper(x)', 'x: 1'],
    ['sort of mixed kinds', 'sort(x)', 'x: [1, "a"]'],
    ['a filter by what is no bool', 'filter(x, i => i)', 'x: [1]'],
    ['some by what is no bool', 'any(x, i => i.on)', 'x: [{on: "yes"}]'],
    ['all by what is no bool', 'all(x)', 'x: [true, 1]'],
    ['a failing side of a comparison whose other side is always null', 'x.a >= 1 / 0', 'x: 1'],
    ['the other way round', '[1][5] == x - 1', 'x: "a"'],
    ['within what null does not change', 'x.a < 1 / 0 or true', 'x: 1'],
    ['not of a constant that is no bool', 'not coalesce("a", 1)'],
    ['and of such a constant', 'coalesce("a", 1) and true'],
    ['or of such a constant', 'false or coalesce("a", 1)'],
    ['an if of such a constant', 'if {a: 1, b: "x"}.a then 1 else 2'],
  ]);
  equations([
    ['a side that and does not reach', 'false and coalesce("a", 1)', false],
    ['a side that or does not reach', 'true or coalesce("a", 1)', true],
    ['null is false in a constant too', 'not get({}, "a") and (null or true)', true],
  ]);
});

describe('what can never work is refused', () => {
  const program = (expression: string) =>
    `event E: i: int, f: float, s: str, b: bool, t: timestamp, d: duration, xs: [int], m: {str: int}\nstream S = E.emit(v: ${expression})`;
  const at = 'stream S = E.emit(v: '.length + 1;
  const refused = (expression: string, code: string, offset = 0) =>
    [`${code} ${expression}`, program(expression), `${code} 2:${at + offset}`] as const;
  const accepted = (expression: string) => [`fine: ${expression}`, program(expression)] as const;
  reports([
    refused('"a" * 2', 'E062'),
    refused('s + 1', 'E062'),
    refused('s - s', 'E062'),
    refused('b + 1', 'E062'),
    refused('-s', 'E062'),
    refused('t + t', 'E062'),
    refused('d * d', 'E062'),
    refused('t * 2', 'E062'),
    refused('s == 1', 'E062'),
    refused('s < 1', 'E062'),
    refused('b == i', 'E062'),
    refused('b < i', 'E062'),
    refused('xs < xs', 'E062'),
    refused('i == s', 'E062'),
    refused('s in xs', 'E062'),
    refused('nope', 'E034'),
    refused('nope.x', 'E035'),
    refused('nope(1)', 'E050'),
    refused('upper(i)', 'E062', 6),
    refused('upper()', 'E051'),
    refused('upper(s, s)', 'E051'),
    refused('i and b', 'E060'),
    refused('b or s', 'E060', 5),
    refused('not i', 'E060', 4),
    refused('if i then 1 else 2', 'E060', 3),
    refused('regex_match(s, "(")', 'E052'),
    refused('s.nope', 'E062', 2),
    accepted('i == f'),
    accepted('d == i'),
    accepted('i + f'),
    accepted('s + s'),
    accepted('t + d'),
    accepted('t - t'),
    accepted('d / 2'),
    accepted('d / d'),
    accepted('i in xs'),
    accepted('s in m'),
    accepted('s in s'),
    accepted('m.k'),
    accepted('i == null'),
    accepted('b == true'),
    accepted('b < true'),
    accepted('sort([b, not b])'),
    accepted('null or b'),
    accepted('not null'),
    ['a filter that is no bool', 'event E: i: int\nstream S = E.where(i).emit()', 'E060 2:20'],
    ['a filter of any passes', 'stream S = E.where(i).emit()'],
    ['an unknown field of a declared event', 'event E: user: str\nstream S = E.where(usr == "a").emit()', 'E034 2:20'],
    ['an unknown field through the alias', 'event E: user: str\nstream S = E as e .where(e.usr == "a").emit()', 'E034 2:28'],
    ['an unknown alias', 'event E: user: str\nstream S = E as e .where(f.user == "a").emit()', 'E035 2:26'],
    ['an undeclared event type is open', 'stream S = E.where(anything.at.all > 1).emit()'],
    ['ts of a declared event', 'event E: user: str\nstream S = E.emit(v: ts)', 'E034 2:22'],
  ]);
});

describe('types', () => {
  runs([
    [
      'every type can be declared',
      `
type User = {str: str}
type Point:
    x: float
    y: float?
event E:
    i: int
    f: float
    s: str
    b: bool
    d: duration
    a: any
    xs: [int]
    m: {str: int}
    o: int?
    p: Point
    u: User
stream S = E.emit(i: i, f: f, s: s, b: b, d: d, a: a, xs: xs, m: m, o: o, p: p.x + p.y, u: u.name)`,
      'E { i: 1, f: 1.5, s: "s", b: true, d: "5s", a: [1], xs: [1, 2], m: {k: 1}, p: {x: 1, y: 2}, u: {name: "n"} }',
      'S {"i":1,"f":1.5,"s":"s","b":true,"d":5000,"a":[1],"xs":[1,2],"m":{"k":1},"o":null,"p":3,"u":"n"}',
    ],
    [
      'an unsafe integer in a declared int is invalid',
      'event E: i: int\nstream S = E.emit(i: i)',
      'E { i: 9007199254740993 }\nE { i: 5 }',
      'invalid {}',
      'S {"i":5}',
    ],
    ['7.0 fits an int', 'event E: i: int\nstream S = E.emit(i: i)', 'E { i: 7.0 }', 'S {"i":7}'],
    [
      'an event type as the type of a parameter reads its fields',
      'event E: i: int\nfn f(e: E) -> int: e.i + 1\nstream S = E as e .emit(v: f(e))',
      'E { i: 7 }',
      'S {"v":8}',
    ],
    ['a duration emitted into a declared int is ms', 'event O: ms: int\nstream S = E.emit as O (ms: 5s)', 'E {}', 'S:O {"ms":5000}'],
  ]);
  reports([
    ['tuples', 'event E: x: (int, str)', 'E062 1:13'],
    ['Stream<T>', 'fn f(s: Stream<int>): 1\nstream S = A.emit(v: f(1))', 'E062 1:9'],
    ['an unknown type', 'event E: x: strnig', 'E033 1:13'],
  ]);
});

describe('how names resolve', () => {
  runs([
    [
      'a lambda parameter before a field',
      'event E: x: int, xs: [int]\nstream S = E.emit(v: map(xs, x => x + 1), w: x)',
      'E { x: 10, xs: [1, 2] }',
      'S {"v":[2,3],"w":10}',
    ],
    [
      'a lambda parameter before a value of the program',
      'let x = 5\nstream S = E.emit(v: map([1], x => x), w: x)',
      'E {}',
      'S {"v":[1],"w":5}',
    ],
    [
      'a local before a value of the program',
      'let x = 5\nfn f() -> int:\n    let x = 6\n    return x\nstream S = E.emit(v: f(), w: x)',
      'E { y: 1 }',
      'S {"v":6,"w":5}',
    ],
    ['a parameter before a value of the program', 'let x = 5\nfn f(x: int) -> int: x\nstream S = E.emit(v: f(7))', 'E {}', 'S {"v":7}'],
    ['a field before a value of the program', 'let x = 5\nevent E: x: int\nstream S = E.emit(v: x)', 'E { x: 1 }', 'S {"v":1}'],
    ['a value before a function', 'let len = 3\nstream S = E.emit(v: len)', 'E {}', 'S {"v":3}'],
    ['an alias before a field', 'stream S = E as x .emit(v: x.y)', 'E { x: {y: 1}, y: 2 }', 'S {"v":2}'],
    [
      'event_type and timestamp are readable',
      'stream S = E.where(timestamp > @1970-01-01 and event_type == "E").emit(t: event_type, at: timestamp)',
      '@5s E {}',
      'S {"t":"E","at":5000}',
    ],
    [
      'a field of that name comes first',
      'stream S = E.emit(t: event_type, at: timestamp)',
      '@5s E { event_type: "mine", timestamp: "2026-01-31T00:00:00Z" }',
      'S {"t":"mine","at":"2026-01-31T00:00:00Z"}',
    ],
    [
      'a program value in an open event',
      'let limit1 = 3\nstream S = E.where(x > limit1).emit(x: x)',
      'E { x: 2 }\nE { x: 4 }',
      'S {"x":4}',
    ],
    ['a user function', 'fn f(a: int, b: int) -> int: a * b\nstream S = E.emit(v: f(2, 3))', 'E {}', 'S {"v":6}'],
    [
      'a method call is a function call',
      'stream S = E.emit(v: x.upper().len(), w: [3, 1].sort(), u: (x.len()) + 1)',
      'E { x: "ab" }',
      'S {"v":2,"w":[1,3],"u":3}',
    ],
  ]);
  reports([
    ['a name that is a field and a value', 'let x = 5\nevent E: x: int\nstream S = E.emit(v: x)', 'W034 3:22'],
    ['no such warning for an open event', 'let x = 5\nstream S = E.emit(v: x)'],
  ]);
});
