import { describe, expect, it } from 'vitest';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { reports, runs } from './conformance.ts';

/** §3 of the language reference, and what §15 and §16 add to it. */
describe('events and types', () => {
  runs([
    [
      'an event that extends another has its fields first',
      'event A: x: int\nevent B extends A: y: int\nstream S = B.emit(x: x, y: y)',
      'B(1, 2)',
      'S {"x":1,"y":2}',
    ],
    [
      'and reaches streams of its parent',
      'event A: x: int\nevent B extends A: y: int\nevent C extends B: z: int\nstream S = A.emit(x: x, t: event_type)',
      'C(1, 2, 3)\nA(4)',
      'S {"x":1,"t":"C"}',
      'S {"x":4,"t":"A"}',
    ],
    ['but not the other way round', 'event A: x: int\nevent B extends A: y: int\nstream S = B.emit(x: x)', 'A(1)'],
    [
      'the first timestamp field is the event time',
      'event A:\n    x: int\n    at: timestamp\n    to: timestamp\nstream S = A.emit(x: x, t: timestamp)',
      'A { x: 1, at: "1970-01-01T00:00:07Z", to: "1970-01-01T00:00:09Z" }',
      'S@7000 {"x":1,"t":7000}',
    ],
    [
      'a name of a type',
      'type Id = str\nevent A: id: Id\nstream S = A.where(id == "a").emit(id: id)',
      'A { id: "a" }\nA { id: "b" }',
      'S {"id":"a"}',
    ],
    [
      'a record',
      'type P:\n    x: int\n    y: int?\nevent A: p: P, ps: [P]\nstream S = A.emit(v: p.x, w: p.y, u: ps[0].x)',
      'A { p: {x: 1}, ps: [{x: 2, y: 3}] }',
      'S {"v":1,"w":null,"u":2}',
    ],
    [
      'declarations come in any order',
      'stream S = A.where(x > LIMIT).emit(v: f(x))\nfn f(n: int) -> int: n + LIMIT\nconst LIMIT = K + 1\nconst K = 1\nevent A: x: int',
      'A { x: 3 }',
      'S {"v":5}',
    ],
    [
      'a const is folded',
      'const A1 = 2 * 3\nconst B1 = A1 + 1\nstream S = A.window(B1 * 1s).aggregate(n: count()).emit(n: n)',
      '@0 A {}\n@7s A {}',
      'S@6999 {"n":1}',
      'S@13999 {"n":1}',
    ],
    ['a let is evaluated once at load', 'let rate = 10_000 / 60\nstream S = A.emit(v: floor(rate))', 'A {}', 'S {"v":166}'],
    ['a stream that checks its results', 'event R: v: int\nstream S: R = A.emit(v: 1)', 'A {}', 'S {"v":1}'],
    [
      'of events that are not declared it promises nothing, so what is evaluated is looked at',
      'event R: v: int?, ok: bool?\nstream X: R = A.where(true)\nstream S = X.emit(v: abs(v), w: v + 1)\nstream T = X.where(ok).emit(v: v)',
      'A { v: 1, ok: true }\nA { v: "x", ok: 1 }\nA { v: true }',
      'S {"v":1,"w":2}',
      'T {"v":1}',
      'failure {"stream":"S"}',
      'failure {"stream":"T"}',
      'failure {"stream":"S"}',
      '{"counters":"S","failures":2}',
      '{"counters":"T","failures":1}',
    ],
    ...['X: R = A.where(true)', 'X = A.emit as R ()'].map(
      (stream) =>
        [
          `a window and a pattern over ${stream} meet values of other types`,
          `event R: v: int?\nstream ${stream}\nstream S = X.window(3).aggregate(l: last(v), n: count()).emit(l: l, n: n)\nstream T = X as a -> X as b where b.v > a.v .within(1h).emit(d: b.v - a.v)`,
          'A { v: 1 }\nA { v: {} }\nA { v: "3" }',
          ...(stream.includes('as R') ? ['X:R {"v":1}', 'X:R {"v":{}}', 'X:R {"v":"3"}'] : []),
          'S {"l":"3","n":3}',
        ] as const,
    ),
    [
      'a duration that is emitted into its numbers is one behind it too',
      'event A: took: duration\nevent R: ms: int\nstream X: R = A.emit(ms: took)\nstream S = X.emit(v: ms + 1)\nstream T = X as a -> X as b where b.ms > a.ms .within(1m).emit(d: b.ms - a.ms)',
      'A { took: 1000 }\nA { took: 3000 }',
      'X {"ms":1000}',
      'S {"v":1001}',
      'X {"ms":3000}',
      'S {"v":3001}',
      'T {"d":2000}',
    ],
    [
      'one that is not emitted stays a duration, and patterns over it match',
      'event A: took: duration\nevent R: ms: int\nstream X: R = A.select(ms: took)\nstream S = X.emit(v: ms + 1s)\nstream T = X as a -> X as b where b.ms > a.ms .within(1m).emit(d: b.ms / a.ms)',
      'A { took: 1000 }\nA { took: 3000 }',
      'S {"v":2000}',
      'S {"v":4000}',
      'T {"d":3}',
    ],
    ['config is accepted', 'config engine { threads: 2 }\nstream S = A.emit(v: 1)', 'A {}', 'S {"v":1}'],
    ['a context without brackets', 'context hot\nstream S = A.context(hot).emit(v: 1)', 'A {}', 'S {"v":1}'],
    ['a context with cores', 'context hot (cores: [0])\nstream S = A.context(hot).emit(v: 1)', 'A {}', 'S {"v":1}'],
    [
      'a connector',
      'connector K = kafka (brokers: ["k1:9092"], group_id: "g")\nstream S = A.from(K, topic: "t").emit(v: x)',
      'A { x: 1 }',
      'S {"v":1}',
    ],
    [
      'a named pattern',
      'pattern P = A as a -> B where k == a.k as b within 5s\nstream S = P.emit(v: a.k, w: b.x)',
      'A { k: 1 }\nB { k: 1, x: 2 }',
      'S {"v":1,"w":2}',
    ],
    ['tests are ignored by a run', 'stream S = A.emit(v: 1)\ntest "x":\n    at 0s A { x: 1 }\n    expect S', 'A {}', 'S {"v":1}'],
  ]);
  reports([
    ['E001 events', 'event A: x: int\nevent A: y: int', 'E001 2:7'],
    ['E001 event and type', 'event A: x: int\ntype A = int', 'E001 2:6'],
    ['E001 fields', 'event A: x: int, x: str', 'E001 1:18'],
    ['E002 streams', 'stream S = A.emit()\nstream S = B.emit()', 'E002 2:8'],
    ['E003 functions', 'fn f(): 1\nfn f(): 2\nstream S = A.emit(v: f())', 'E003 2:4'],
    ['E004 connectors', 'connector C = console ()\nconnector C = console ()\nstream S = A.to(C)', 'E004 2:11'],
    ['E005 contexts', 'context c\ncontext c\nstream S = A.context(c).emit()', 'E005 2:9'],
    ['E006 patterns', 'pattern P = A -> B within 1s\npattern P = A -> C within 1s\nstream S = P.emit()', 'E006 2:9'],
    ['E007 values', 'let x = 1\nconst x = 2\nstream S = A.emit(v: x)', 'E007 2:7'],
    ['E008 streams, at the first of the cycle', 'stream S = R.emit()\nstream R = S.emit()', 'E008 1:8'],
    ['E008 of itself', 'stream S = S.where(x > 1).emit()', 'E008 1:8'],
    ['E008 through a merge', 'stream S = merge(A, R).emit()\nstream R = S.emit()', 'E008 1:8'],
    ['E008 types', 'event A extends B: x: int\nevent B extends A: y: int', 'E008 2:17'],
    ['E008 values', 'let a = b\nlet b = a', 'E008 1:5'],
    ['E033 extends', 'event A extends Nope: x: int', 'E033 1:17'],
    ['E033 late', 'stream S = Nope.late.emit()', 'E033 1:17'],
    ['E081 time that goes back', 'stream S = A.emit(v: 1)\ntest "x":\n    at 0s A {}\n    advance -3s\n    expect S', 'E081 4:13'],
    ['E033 a name of an import', 'stream S = common.X.emit()', 'E033 1:12'],
    ['E062 a value of another type', 'let a: int = "x"', 'E062 1:14'],
    [
      'E062 a duration where its milliseconds were emitted',
      'event A: took: duration\nevent R: ms: int\nstream X: R = A.emit(ms: took)\nstream S = X.emit(v: ms + 1s)',
      'E062 4:22',
    ],
    ['E062 results that do not fit', 'event R: v: int\nstream S: R = A.emit(v: "x")', 'E062 2:11'],
    ['W038 config', 'config engine:\n    threads: 2', 'W038 1:8'],
    ['W030 an undeclared source', 'stream S = Logn.emit()\nevent Login: u: str\nstream R = Login.emit()', 'W030 1:12'],
    ['W031 emit as an undeclared type', 'stream S = A.emit as Sus (v: 1)', 'W030 1:12', 'W031 1:22'],
    ['W040 an unused stream', 'stream S = A.where(x > 1)', 'W040 1:8', 'W030 1:12'],
    ['W040 an unused alias', 'event A: x: int\nstream S = A as a -> A as b within 5s .emit(v: a.x)', 'W040 2:27'],
    [
      'no W040 with .to, .tap, .log, .alert, .process',
      'event A: x: int\nconnector C = console ()\nfn f(x: int):\n    emit Q(x: x)\nstream S = A.to(C)\nstream T = A.tap(x)\nstream U = A.log(message: "m")\nstream V = A.alert(url: "http://x", message: "m")\nstream W = A.process(f(x))',
    ],
    ['an E030', 'stream S = A.to(Nope)', 'E030 1:17'],
    ['an E031', 'stream S = A.context(nope).emit()', 'E031 1:22'],
    ['an E032', 'connector C = console ()\nstream S = A.from(C).emit()', 'E032 2:19'],
    ['an E094', 'connector C = kafkaa ()\nstream S = A.to(C)', 'E094 1:15'],
    ['an E093', 'import "x.wasm"\nstream S = A.emit()', 'E093 1:8'],
  ]);
});

describe('compile time', () => {
  runs([
    [
      'for repeats its body with {i} in names and expressions',
      'for i in 0..3:\n    stream Zone{i} = R.where(zone == {i}).emit(z: {i}, s: "zone {i}")',
      'R { zone: 2 }\nR { zone: 3 }',
      'Zone2 {"z":2,"s":"zone 2"}',
    ],
    ['..= includes', 'for i in 1..=2:\n    stream Z{i} = R.emit(i: {i})', 'R {}', 'Z1 {"i":1}', 'Z2 {"i":2}'],
    ['const bounds', 'const N = 2\nfor i in 0..N:\n    stream Z{i} = R.emit(i: {i})', 'R {}', 'Z0 {"i":0}', 'Z1 {"i":1}'],
    [
      'loops nest',
      'for i in 0..2:\n    for j in 0..2:\n        stream Z{i}_{j} = R.emit(v: {i} * 10 + {j})',
      'R {}',
      'Z0_0 {"v":0}',
      'Z0_1 {"v":1}',
      'Z1_0 {"v":10}',
      'Z1_1 {"v":11}',
    ],
    [
      'if with a constant condition',
      'const LIMIT = 6\nif LIMIT > 5:\n    stream X = R.emit(v: 1)\nif LIMIT > 6:\n    stream Y = R.emit(v: 2)',
      'R {}',
      'X {"v":1}',
    ],
    ['else', 'if 1 > 5:\n    stream X = R.emit(v: 1)\nelse:\n    stream Y = R.emit(v: 2)', 'R {}', 'Y {"v":2}'],
    [
      'what is left out is not checked against the rest',
      'if false:\n    stream X = R.emit(v: 1)\nstream X = R.emit(v: 2)',
      'R {}',
      'X {"v":2}',
    ],
  ]);
  reports([
    ['a for too long', 'for i in 0..10_001:\n    let x{i} = 1', 'E095 1:10'],
    ['a bound that is not constant', 'var n = 2\nfor i in 0..n:\n    let x{i} = 1', 'E034 2:13'],
    ['names that come twice', 'for i in 0..2:\n    stream X = R.emit()', 'E002 2:12'],
  ]);
});

describe('a program as a whole', () => {
  it('gives all errors of a file at once, in order of position', () => {
    const { diagnostics } = check(new SourceText('p.vpl', 'let a = (\nstream S = A.wher(x)\nlet b = nope\nlet c = 1 +\nlet d = "a" * 2\n'));
    expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual([
      'E000',
      'E091',
      'E034',
      'E000',
      'E062',
    ]);
  });
  it('counts statements as written', () => {
    expect(check(new SourceText('p.vpl', 'event A: x: int\nfor i in 0..3:\n    stream S{i} = A.emit()\n')).statements).toBe(2);
  });
  it('names the nearest known name', () => {
    const hints = (text: string) => check(new SourceText('p.vpl', text)).diagnostics.map(({ hint }) => hint ?? '');
    expect(hints('event Login: user: str\nstream S = Login.where(usr == "a").emit()')[0]).toContain('user');
    expect(hints('stream S = A.wher(x > 1).emit()').join()).toContain('where');
    expect(hints('stream S = A.emit(v: uper(x))').join()).toContain('upper');
    expect(hints('stream S = A.window(5m).aggregate(n: cuont()).emit()').join()).toContain('count');
    expect(hints('connector Kafka1 = console ()\nstream S = A.to(Kafka2)').join()).toContain('Kafka1');
    expect(hints('stream S = A.window(5m, slidin: 1m).aggregate(n: count()).emit()').join()).toContain('sliding');
    expect(hints('event Login: user: str\nstream S = Logn.emit()\nstream R = Login.emit()').join()).toContain('Login');
    expect(
      hints(
        'event L: user: str\nstream S = L as first -> L where user == frist.user as c within 5s .emit(v: first.user, w: c.user)',
      ).join(),
    ).toContain('first');
  });
});
