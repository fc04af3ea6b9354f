import { describe } from 'vitest';
import { equations, reports, runs } from './conformance.ts';

/** §13 of the language reference, and what §15 and §16 add to it. */
describe('math', () => {
  equations([
    ['abs', '[abs(-3), abs(2.5)]', [3, 2.5]],
    ['sqrt', 'sqrt(16)', 4],
    ['log', 'log(1)', 0],
    ['log10', 'log10(1000)', 3],
    ['exp', 'exp(0)', 1],
    ['sin cos tan', '[sin(0), cos(0), tan(0)]', [0, 1, 0]],
    ['floor ceil', '[floor(-1.5), ceil(-1.5), floor(1.5), ceil(1.5)]', [-2, -1, 1, 2]],
    ['round is half away from zero', '[round(2.5), round(-2.5), round(0.4), round(1.5)]', [3, -3, 0, 2]],
    ['round to digits', '[round(1.005, 2), round(-1.25, 1), round(1234, -2)]', [1.01, -1.3, 1200]],
    ['pow', 'pow(2, 10)', 1024],
    ['min max', '[min(3, 1), max(3, 1), min([3, 1, 2]), max([3, 1, 2])]', [1, 3, 1, 3]],
    ['clamp', '[clamp(5, 0, 3), clamp(-1, 0, 3), clamp(2, 0, 3)]', [3, 0, 2]],
    ['div', 'div(7, 2)', 3],
    ['sign', '[sign(-5), sign(0), sign(3)]', [-1, 0, 1]],
  ]);
});

describe('strings', () => {
  equations([
    ['len counts code points', '[len("añ😀"), len("")]', [3, 0]],
    ['upper lower trim', '[upper("aé"), lower("AÉ"), trim("  a b ")]', ['AÉ', 'aé', 'a b']],
    ['contains starts_with ends_with', '[contains("abc", "b"), starts_with("abc", "ab"), ends_with("abc", "bc")]', [true, true, true]],
    ['split', '[split("a,b,,c", ","), split("", ",")]', [['a', 'b', '', 'c'], ['']]],
    ['join', 'join(["a", "b"], "-")', 'a-b'],
    ['replace replaces all', '[replace("aXbX", "X", "-"), replace("a.b.c", ".", "")]', ['a-b-', 'abc']],
    ['substring leaves the end out', '[substring("abcdef", 1, 3), substring("a😀b", 1, 2)]', ['bc', '😀']],
    ['substring from the end', 'substring("abcdef", -3, -1)', 'de'],
    ['regex_match searches', '[regex_match("xabcx", "b+"), regex_match("abc", "^b")]', [true, false]],
    ['regex_extract gives group 1', 'regex_extract("user=ann;", "user=(\\\\w+)")', 'ann'],
    ['regex_extract without a group gives the match', 'regex_extract("a12b", "[0-9]+")', '12'],
    ['regex_extract without a match', 'regex_extract("abc", "[0-9]+")', null],
    ['format', 'format("{} of {}", 1, "x")', '1 of x'],
    ['to_string of a string is itself', 'to_string("a")', 'a'],
    [
      'to_string of numbers',
      '[to_string(1.50), to_string(7.0), to_string(1e21), to_string(-0.000001)]',
      ['1.5', '7', '1e+21', '-0.000001'],
    ],
    [
      'to_string of a duration',
      '[to_string(90m), to_string(5m), to_string(0s), to_string(2w), to_string(1500ms)]',
      ['1h30m', '5m', '0s', '14d', '1s500ms'],
    ],
    [
      'to_string of a timestamp',
      '[to_string(@2026-01-31), to_string(@2026-01-31T10:00:00.250Z)]',
      ['2026-01-31T00:00:00Z', '2026-01-31T10:00:00.250Z'],
    ],
    ['to_string of a bool', 'to_string(true)', 'true'],
    ['concat', '[concat("a", "b")]', ['ab']],
    ['concat of arrays', 'concat([1], [2])', [1, 2]],
    ['aliases of upper and lower', '[to_upper("a"), uppercase("a"), to_lower("A"), lowercase("A")]', ['A', 'A', 'a', 'a']],
  ]);
  reports([
    ['an expression that is too much for RE2', "stream S = E.where(regex_match(x, '(a)\\1')).emit()", 'E052 1:20'],
    ['a look-ahead', "stream S = E.where(regex_match(x, '(?=a)')).emit()", 'E052 1:20'],
  ]);
});

describe('collections', () => {
  equations([
    ['len', '[len([1, 2]), len({a: 1, b: 2}), len([])]', [2, 2, 0]],
    ['first last', '[first([1, 2]), last([1, 2]), first([])]', [1, 2, null]],
    ['push pop', '[push([1], 2), pop([1, 2]), pop([])]', [[1, 2], [1], []]],
    [
      'reverse',
      '[reverse([1, 2]), sort([3, 1, 2]), sort(["b", "a"])]',
      [
        [2, 1],
        [1, 2, 3],
        ['a', 'b'],
      ],
    ],
    ['unique', 'unique([1, 2, 1, 1.0])', [1, 2]],
    ['contains', '[contains([1, 2], 2), contains([1], 3)]', [true, false]],
    [
      'keys values',
      '[keys({a: 1, b: 2}), values({a: 1, b: 2})]',
      [
        ['a', 'b'],
        [1, 2],
      ],
    ],
    ['get', '[get({a: 1}, "a"), get({a: 1}, "b"), get({a: 1}, "b", 5), get([1, 2], 1), get([1], 4, 9)]', [1, null, 5, 2, 9]],
    ['set', '[set({a: 1}, "b", 2), set({a: 1}, "a", 3)]', [{ a: 1, b: 2 }, { a: 3 }]],
    ['set leaves the original', '[x, set(x, "a", 2)]', [{ a: 1 }, { a: 2 }], 'x: {a: 1}'],
    ['range', '[range(3), range(1, 4), range(2, 2)]', [[0, 1, 2], [1, 2, 3], []]],
    ['sum avg', '[sum([1, 2, 3]), avg([1, 2, 3])]', [6, 2]],
    ['sum of a field array', '[sum(x), avg(x), min(x), max(x)]', [6, 2, 1, 3], 'x: [1, 2, 3]'],
    ['variance of an array', 'variance([1, 2, 3])', 1],
    [
      'filter map',
      '[filter([1, 2, 3], x => x > 1), map([1, 2], x => x * 2)]',
      [
        [2, 3],
        [2, 4],
      ],
    ],
    ['any all', '[any([1, 2], x => x > 1), all([1, 2], x => x > 1), any([], x => true), all([], x => false)]', [true, false, false, true]],
    ['null counts as false', '[filter(x, i => i.a), any(x, i => i.a), all(x, i => i.a)]', [[], false, false], 'x: [{b: 1}]'],
    ['flatten', 'flatten([[1], [2, 3], []])', [1, 2, 3]],
    [
      'zip',
      'zip([1, 2], ["a", "b"])',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    ['a lambda with a block', 'map([1, 2], x => { let y = x + 1; y * 2 })', [4, 6]],
  ]);
});

describe('time', () => {
  equations([
    [
      'parts',
      '[year(@2026-01-31T10:11:12Z), month(@2026-01-31), day(@2026-01-31), hour(@2026-01-31T10:11:12Z), minute(@2026-01-31T10:11:12Z), second(@2026-01-31T10:11:12Z)]',
      [2026, 1, 31, 10, 11, 12],
    ],
    ['weekday has Monday as 1', '[weekday(@2026-02-02), weekday(@2026-02-01)]', [1, 7]],
    ['in a zone', '[hour(@2026-01-31T23:30:00Z, "Europe/Berlin"), day(@2026-01-31T23:30:00Z, "Europe/Berlin")]', [0, 1]],
    ['duration_between', 'to_string(duration_between(@2026-01-31, @2026-02-01))', '1d'],
    [
      'to_timestamp',
      '[to_timestamp("2026-01-31T00:00:00Z"), to_timestamp(1000000000000), to_timestamp("x")]',
      [Date.UTC(2026, 0, 31), 1_000_000_000_000, null],
    ],
    ['parse', 'parse("2026-01-31")', Date.UTC(2026, 0, 31)],
    ['format_time', 'format_time(@2026-01-31T10:11:12.345Z, "yyyy-MM-dd HH:mm:ss.SSS")', '2026-01-31 10:11:12.345'],
    ['format_time in a zone', 'format_time(@2026-07-01T00:00:00Z, "yyyy-MM-dd HH:mm", "Europe/Berlin")', '2026-07-01 02:00'],
  ]);
  runs([
    ['now() is the time of the current event', 'stream S = E.emit(v: now())', '@5s E {}', 'S {"v":5000}'],
    ['now() is the time of the current result', 'stream S = E.window(5s).aggregate(n: count()).emit(v: now())', '@1s E {}', 'S {"v":4999}'],
  ]);
  reports([['now() is told of once', 'stream S = E.emit(v: now(), w: now())\nstream R = E.emit(v: now())', 'W042 1:22']]);
});

describe('conversion, hashing, geo and network', () => {
  equations([
    ['to_int', '[to_int("42"), to_int(3.9), to_int(-3.9), to_int(true), to_int("4.5")]', [42, 3, -3, 1, 4]],
    ['to_float', '[to_float("1.5"), to_float(2)]', [1.5, 2]],
    [
      'to_bool',
      '[to_bool(1), to_bool(0), to_bool("true"), to_bool("false"), to_bool(true), to_bool(2)]',
      [true, false, true, false, true, null],
    ],
    [
      'type_of',
      '[type_of(1), type_of(7.0), type_of(1.5), type_of("a"), type_of(true), type_of([]), type_of({}), type_of(@2026-01-31), type_of(1s), type_of(null)]',
      ['int', 'int', 'float', 'str', 'bool', 'array', 'map', 'timestamp', 'duration', 'null'],
    ],
    [
      'is_int(7.0)',
      '[is_int(7.0), is_float(7.5), is_string("a"), is_bool(true), is_array([]), is_map({})]',
      [true, true, true, true, true, true],
    ],
    ['is_null coalesce', '[is_null(x), coalesce(x, 2, 3), if_null(x, 4)]', [true, 2, 4]],
    [
      'hash is 16 hex digits',
      '[len(hash("a")), hash("a") == hash("a"), hash(1) == hash("1"), hash("a") == hash("b")]',
      [16, true, true, false],
    ],
    ['hash is xxHash64', 'hash("")', 'ef46db3751d8e999'],
    ['hash of a text', 'hash("abc")', '44bc2cf5ad770999'],
    ['geo_distance', 'round(geo_distance(52.52, 13.405, 48.1374, 11.5755) / 1000)', 504],
    [
      'cidr_match',
      '[cidr_match("10.1.2.3", "10.0.0.0/8"), cidr_match("11.1.2.3", "10.0.0.0/8"), cidr_match("::1", "::/64"), cidr_match("10.1.2.3", "10.1.2.3/32")]',
      [true, false, true, true],
    ],
    ['cidr_match of no address', 'cidr_match("x", "10.0.0.0/8")', null],
  ]);
  reports([
    ['there is no random()', 'stream S = E.emit(v: random())', 'E050 1:22'],
    ['there is no uuid()', 'stream S = E.emit(v: uuid())', 'E050 1:22'],
    ['arguments by number', 'stream S = E.emit(v: abs(1, 2))', 'E051 1:22'],
    ['arguments by type', 'stream S = E.emit(v: abs("a"))', 'E062 1:26'],
  ]);
});

describe('functions of arrays where aggregates have the same name', () => {
  runs([
    [
      'sum of an array of a step',
      'stream S = A as a -> B as b within 5s .emit(v: sum(a.xs), w: max([a.n, b.n]), m: max(a.n, b.n), l: len(a.xs))',
      'A { xs: [1, 2], n: 3 }\nB { n: 4 }',
      'S {"v":3,"w":4,"m":4,"l":2}',
    ],
    [
      'sum of an expression that mentions an alias',
      'stream S = A as a -> B as b within 5s .emit(v: sum(map(a.xs, x => x * b.n)), w: sum(push(a.xs, b.n)))',
      'A { xs: [1, 2] }\nB { n: 2 }',
      'S {"v":6,"w":5}',
    ],
    [
      'first and last of an array of a step',
      'stream S = A as a -> B as b within 5s .emit(v: first(a.xs), w: last(a.xs))',
      'A { xs: [1, 2] }\nB { n: 2 }',
      'S {"v":1,"w":2}',
    ],
    [
      'of a declared event',
      'event A: xs: [int]\nstream S = A as a -> B as b within 5s .emit(v: sum(a.xs), w: avg(a.xs), l: min(a.xs))',
      'A { xs: [1, 2] }\nB { n: 2 }',
      'S {"v":3,"w":1.5,"l":1}',
    ],
    ['sum in a filter', 'stream S = A.where(sum(xs) > 2).emit(v: xs.sum())', 'A { xs: [1, 2] }\nA { xs: [1] }', 'S {"v":3}'],
    ['sum in a function', 'fn total(xs: [int]) -> int: sum(xs)\nstream S = A.emit(v: total(xs))', 'A { xs: [1, 2] }', 'S {"v":3}'],
    [
      'count(distinct(e))',
      'stream S = A.window(5s).aggregate(n: count(distinct(u)), m: count_distinct(u), o: distinct_count(u)).emit(n: n, m: m, o: o)',
      'A { u: 1 }\nA { u: 1 }\nA { u: 2 }\nA {}',
      'S {"n":2,"m":2,"o":2}',
    ],
    [
      'count(distinct(e)) with a filter',
      'stream S = A.window(5s).aggregate(n: count(distinct(u)) where u > 1, k: count(distinct(u)) + 1).emit(n: n, k: k)',
      'A { u: 1 }\nA { u: 1 }\nA { u: 2 }\nA {}',
      'S {"n":1,"k":3}',
    ],
  ]);
});

describe('a sum of durations that has none', () => {
  const event = 'event J: took: duration?, ok: bool, xs: [duration]\n';
  const none = 'J { took: 5000, ok: false, xs: [] }\n';
  const windows = ['window(10s)', 'window(10s, sliding: 5s)', 'window(session: 1s)', 'window(1)', 'window(10s, align: first)'];
  runs([
    ...windows.map(
      (window) =>
        [
          window,
          `${event}stream S = J.${window}.aggregate(s: sum(took) where ok, n: count()).where(window_start >= @1970-01-01).emit(s: s / 1s, t: s + 1s, u: to_string(s))`,
          none,
          'S {"s":0,"t":1000,"u":"0s"}',
        ] as const,
    ),
    [
      'a running aggregate',
      `${event}stream S = J.aggregate(s: (sum(took) where ok) + 1s).emit(s: s)`,
      `${none}@1s J { took: 5000, ok: true, xs: [] }`,
      'S {"s":1000}',
      'S {"s":6000}',
    ],
    [
      'a closure',
      `${event}stream S = J where ok as a -> J* where not ok as b -> J where ok as c .within(1m).emit(s: sum(b.took) + 1s)`,
      'J { took: 5000, ok: true, xs: [] }\n@1s J { took: 5000, ok: true, xs: [] }',
      'S {"s":1000}',
    ],
    ['an array', `${event}stream S = J.emit(s: sum(xs) + 1s)`, none, 'S {"s":1000}'],
    ['of numbers it is 0', 'event J: n: int?\nstream S = J.window(10s).aggregate(s: sum(n)).emit(s: to_string(s))', 'J {}', 'S {"s":"0"}'],
  ]);
});

describe('functions of the program', () => {
  const one = (body: string, call: string, result: unknown, fields = '') =>
    [
      `${body.replaceAll('\n', ' ⏎ ')}: ${call}`,
      `${body}\nstream S = T.emit(v: ${call})`,
      `T { ${fields} }`,
      `S ${JSON.stringify({ v: result })}`,
    ] as const;
  runs([
    one('fn f(n: int) -> int:\n    return n + 1', 'f(1)', 2),
    one('fn f(n): n + 1', 'f(1)', 2),
    one('fn f(n):\n    n + 1', 'f(1)', 2),
    one('fn f(n):\n    let m = n * 2\n    var k = m\n    k := k + 1\n    k', 'f(3)', 7),
    one('fn f(n):\n    if n > 2:\n        "big"\n    elif n > 1:\n        "mid"\n    else:\n        "small"', '[f(3), f(2), f(1)]', [
      'big',
      'mid',
      'small',
    ]),
    one('fn f(n):\n    if n > 2:\n        1', 'f(1)', null),
    one('fn f(n):\n    let x = n', 'f(1)', null),
    one('fn f(n):\n    var s = 0\n    for x in [1, 2, 3]:\n        s := s + x\n    s', 'f(1)', 6),
    one('fn f(n):\n    var s = 0\n    for i in 0..n:\n        s := s + i\n    s', 'f(4)', 6),
    one('fn f(n):\n    var s = 0\n    for i in 0..=n:\n        s := s + i\n    s', 'f(4)', 10),
    one('fn f(n):\n    var s = 0\n    for i in n:\n        s := s + i\n    s', 'f(4)', 6),
    one('fn f(m):\n    var s = ""\n    for p in m:\n        s := s + p[0] + to_string(p[1])\n    s', 'f({a: 1, b: 2})', 'a1b2'),
    one(
      'fn f(n):\n    var i = 0\n    while i < n:\n        i := i + 1\n        if i == 3:\n            break\n    i',
      '[f(2), f(9)]',
      [2, 3],
    ),
    one('fn f(n):\n    var s = 0\n    for i in 0..n:\n        if i % 2 == 0:\n            continue\n        s := s + i\n    s', 'f(6)', 9),
    one('fn f(n):\n    for i in 0..n:\n        if i == 2:\n            return "two"\n    return "none"', '[f(5), f(1)]', ['two', 'none']),
    one('fn fact(n: int) -> int: if n <= 1 then 1 else n * fact(n - 1)', 'fact(10)', 3628800),
    one('fn a(n): if n == 0 then "a" else b(n - 1)\nfn b(n): if n == 0 then "b" else a(n - 1)', 'a(3)', 'b'),
    one('fn f(n: int): n > 3', '[f(4), f(1)]', [true, false]),
    one('fn depth(n): if n == 0 then 0 else 1 + depth(n - 1)', 'depth(254)', 254),
    ...['sum(n)', 'max(n) - min(n)', 'last(n)', 'first(n), m: stddev(n)'].map(
      (aggregate) =>
        [
          `a result of another type than declared is a failure where it is given, not in ${aggregate} behind it`,
          `fn f(x) -> float: x\nstream V = T.select(n: f(x))\nstream S = V.window(3).aggregate(v: ${aggregate}).emit(v: v)`,
          'T { x: 4 }\nT { x: "a" }\nT {}\nT { x: 4 }',
          'failure {"stream":"V"}',
          `S {"v":${aggregate === 'sum(n)' ? 8 : aggregate.includes('-') ? 0 : 4}}`,
          '{"counters":"V","failures":1}',
        ] as const,
    ),
    [
      'a pattern over such results meets none',
      'fn f(x) -> float: x\nstream V = T.select(n: f(x))\nstream S = V as a -> V as b where b.n > a.n .within(1h).emit(v: b.n - a.n)',
      'T { x: 1 }\nT { x: true }\nT { x: {} }\nT { x: "3" }\nT { x: 5 }',
      'failure {"stream":"V"}',
      'failure {"stream":"V"}',
      'failure {"stream":"V"}',
      'S {"v":4}',
      '{"counters":"V","failures":3}',
    ],
    ...(
      [
        ['[int]', '[1, "a"]'],
        ['{str: bool}', '{a: 1}'],
        ['R', '{n: "a"}'],
        ['timestamp', '5'],
        ['bool', '1'],
      ] as const
    ).map(
      ([type, x]) =>
        [
          `so is what is no ${type} inside, and null is one`,
          `type R: n: int\nfn f(x) -> ${type}: x\nstream S = T.emit(v: f(x))`,
          `T { x: ${x} }\nT {}`,
          'failure {"stream":"S"}',
          'S {"v":null}',
          '{"counters":"S","failures":1}',
        ] as const,
    ),
    [
      'a var of the program takes what is of its type alone',
      'var n = 0\nfn put(x):\n    n := x\n    true\nstream V = T.where(put(x)).select(n: n)\nstream S = V.window(2).aggregate(v: sum(n)).emit(v: v)',
      'T { x: 1 }\nT { x: "a" }\nT { x: 2 }',
      'failure {"stream":"V"}',
      'S {"v":3}',
      '{"counters":"V","failures":1}',
    ],
    [
      'a local of a lambda may hold what is not of its type, of which nothing is taken to be known',
      'stream V = T.select(n: [x].map(i => { let n: int = i; n })[0])\nstream S = V.window(3).aggregate(v: count(n), l: last(n)).emit(v: v, l: l)',
      'T { x: 1 }\nT { x: "a" }\nT {}',
      'S {"v":2,"l":null}',
    ],
    ...(
      [
        ['a parameter', 'fn p(y: float):\n    emit B(n: y)'],
        ['a local', 'fn p(y):\n    let z: float = y\n    emit B(n: z)'],
        ['a parameter of a function that it calls', 'fn q(y: float):\n    emit B(n: y)\nfn p(y):\n    q(y)'],
        ['an item of a parameter', 'fn p(y: float):\n    q([y])\nfn q(ys: [float]):\n    for z in ys:\n        emit B(n: z)'],
      ] as const
    ).map(
      ([what, declared]) =>
        [
          `of ${what} nothing is known to what reads the event that it is emitted in`,
          `event B: n: float?\n${declared}\nstream V = T.process(p(x))\nstream S = V.window(3).aggregate(v: sum(n)).emit(v: v)`,
          'T { x: 4 }\nT { x: "a" }\nT {}\nT { x: 4 }',
          'V:B {"n":4}',
          'V:B {"n":"a"}',
          'failure {"stream":"S"}',
          'V:B {"n":null}',
          'S {"v":4}',
          'V:B {"n":4}',
          'S {"v":4}',
          '{"counters":"S","failures":1}',
        ] as const,
    ),
    [
      'two functions that differ in their result alone are two to aggregates',
      'fn g(x): x\nfn f(x) -> float: x\nstream V = T.window(1).aggregate(k: last(g(x)), n: last(f(x)))\nstream S = V.window(2).aggregate(v: sum(n)).emit(v: v)',
      'T { x: 4 }\nT { x: "a" }\nT { x: 4 }',
      'failure {"stream":"V"}',
      'S {"v":8}',
      '{"counters":"V","failures":1}',
    ],
    [
      'recursion deeper than 256 is a failure',
      'fn depth(n): if n == 0 then 0 else 1 + depth(n - 1)\nstream S = T.emit(v: depth(n))\nstream R = T.emit(n: n)',
      'T { n: 300 }\nT { n: 1 }',
      'failure {"stream":"S"}',
      'R {"n":300}',
      'S {"v":1}',
      'R {"n":1}',
      '{"counters":"S","failures":1}',
    ],
    [
      'loops may take 1,000,000 steps',
      'fn f(n):\n    var i = 0\n    while i < n:\n        i := i + 1\n    i\nstream S = T.emit(v: f(n))',
      'T { n: 1000000 }',
      'S {"v":1000000}',
    ],
    [
      'a var of the program is state',
      'var seen = 0\nfn next() -> int:\n    seen := seen + 1\n    return seen\nstream S = T.emit(v: next())',
      'T {}\nT {}',
      'S {"v":1}',
      'S {"v":2}',
    ],
    [
      'a top-level := runs once at load, in written order',
      'x := x + 1\nvar x = 1\nx := x * 10\nstream S = T.emit(v: x)',
      'T {}',
      'S {"v":20}',
    ],
    [
      'let, var and const take a type',
      'let a: int = 1\nvar b: float = 2\nconst C: str = "c"\nstream S = T.emit(a: a, b: b, c: C)',
      'T {}',
      'S {"a":1,"b":2,"c":"c"}',
    ],
  ]);
  reports([
    ['assignment to a let', 'let x = 1\nx := 2', 'E040 2:1'],
    ['assignment to a const', 'const X = 1\nfn f():\n    X := 2\nstream S = A.emit(v: f())', 'E040 3:5'],
    ['assignment to a local let', 'fn f():\n    let x = 1\n    x := 2\n    x\nstream S = A.emit(v: f())', 'E040 3:5'],
    ['assignment to a parameter', 'fn f(x: int):\n    x := 2\n    x\nstream S = A.emit(v: f(1))', 'E040 2:5'],
    ['no default values', 'fn f(x: int = 1): x', 'E000 1:13'],
    ['too few arguments', 'fn f(x: int): x\nstream S = A.emit(v: f())', 'E051 2:22'],
    ['an argument of a wrong type', 'fn f(x: int): x\nstream S = A.emit(v: f("a"))', 'E062 2:24'],
    ['a return of a wrong type', 'fn f(x: int) -> str:\n    return x\nstream S = A.emit(v: f(1))', 'E062 2:12'],
    ['an unused function', 'fn f(x: int): x', 'W040 1:4'],
    ['emit in a function that .process does not call', 'fn f(x: int):\n    emit T(a: x)\nstream S = A.emit(v: f(1))', 'E096 3:22'],
    ['two parameters of one name', 'fn f(x: int, x: int): x\nstream S = A.emit(v: f(1, 2))', 'E007 1:14'],
    ['break outside of a loop', 'fn f():\n    break\nstream S = A.emit(v: f())', 'E000 2:5'],
  ]);
});
