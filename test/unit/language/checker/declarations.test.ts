import { describe, expect, test } from 'vitest';
import { printType } from '../../../../shared/language/plan/types.ts';
import { checkText, diagnose, problems } from './checking.ts';

describe('events and types', () => {
  test('an event has the fields of its parents first, and its first timestamp is its time', () => {
    const { plan } = checkText(`
event Base:
    user: str
    seen: timestamp?
event Login extends Base: ip: str, at: timestamp
event AdminLogin extends Login: role: str
`);
    expect(
      plan?.events.map(({ name, fields, ancestors, timeField }) => ({
        name,
        fields: fields.map((field) => field.name),
        ancestors,
        timeField,
      })),
    ).toEqual([
      { name: 'Base', fields: ['user', 'seen'], ancestors: [], timeField: 'seen' },
      { name: 'Login', fields: ['user', 'seen', 'ip', 'at'], ancestors: ['Base'], timeField: 'seen' },
      { name: 'AdminLogin', fields: ['user', 'seen', 'ip', 'at', 'role'], ancestors: ['Login', 'Base'], timeField: 'seen' },
    ]);
  });

  test('types have aliases, records and optional forms, in any order', () => {
    const { plan } = checkText(`
event Order:
    id: OrderId
    lines: [Line]
    notes: {str: any}?
    buyer: Buyer
type OrderId = str
type Buyer = str?
type Line:
    sku: str
    count: int
`);
    expect(plan?.events[0]?.fields.map(({ name, type, optional }) => `${name}: ${printType(type)}${optional ? '?' : ''}`)).toEqual([
      'id: str',
      'lines: [Line]',
      'notes: {str: any}?',
      'buyer: str?',
    ]);
  });

  test('unknown and unsupported types are refused with the nearest', () => {
    expect(
      problems(`
event A:
    a: flaot
    b: string
    c: Stream<int>
    d: (int, str)
    e: {int: str}
event B extends Aa: x: int
`),
    ).toMatchInlineSnapshot(`
      "3:8 E033 unknown type \`flaot\` (did you mean \`float\`?)
      4:8 E033 unknown type \`string\` (did you mean \`str\`?)
      5:8 E062 \`Stream\` takes no type parameters (write the type of the values alone)
      6:8 E062 there are no tuples (write an array \`[any]\`, or declare a record with \`type T:\`)
      7:9 E062 the keys of a map are str (write {str: T})
      8:17 E033 \`B\` extends the unknown event \`Aa\` (did you mean \`A\`?)"
    `);
  });

  test('an event that streams read without its being declared is a type of open fields', () => {
    expect(problems('fn f(e: Ping): e.anything\nstream S = Ping as p.where(f(p) == 1).emit()')).toBe(
      '1:9 W030 event type `Ping` is not declared (declare it: `event Ping:` with its fields)',
    );
  });

  test('a type that contains itself is a cycle', () => {
    expect(
      problems(`
event A extends B: x: int
event B extends A: y: int
type Node:
    next: Node?
type C = [D]
type D = C
`),
    ).toMatchInlineSnapshot(`
      "3:17 E008 \`B\` extends itself
      4:6 E008 the type \`Node\` contains itself (write \`any\` for the part that repeats it)
      6:6 E008 the type \`C\` contains itself (write \`any\` for the part that repeats it)"
    `);
  });

  test('the second of two declarations is the one that is reported, whatever stands between', () => {
    expect(
      problems(`
event A: x: int
type A = str
type R: a: int, a: str
stream S = A.emit()
stream S = A.emit()
fn f(): 1
fn f(): 2
connector C = console ()
connector C = console ()
context c
context c
pattern P = A as a -> A as b within 1m
pattern P = A as a -> A as b within 1m
const K = 1
var K = 2
`),
    ).toMatchInlineSnapshot(`
      "3:6 E001 the event or type \`A\` is declared twice, first in line 2
      4:17 E001 the field \`a\` is declared twice
      6:8 E002 the stream \`S\` is declared twice, first in line 5
      8:4 E003 the function \`f\` is declared twice, first in line 7
      10:11 E004 the connector \`C\` is declared twice, first in line 9
      12:9 E005 the context \`c\` is declared twice, first in line 11
      14:9 E006 the pattern \`P\` is declared twice, first in line 13
      16:5 E007 the constant or variable \`K\` is declared twice, first in line 15"
    `);
  });

  test('things of different kinds may share a name', () => {
    expect(problems('event Login: user: str\nfn Login(): 1\nstream Login2 = Login.emit()\nconst Login3 = Login()')).toBe('');
  });
});

describe('values of the program', () => {
  test('constants are folded away, the rest is evaluated at load behind what it reads', () => {
    const { plan } = checkText(`
let a = b + twice(1)
let b = twice(LIMIT)
const LIMIT = 10 * 6
let rate = LIMIT / 60
var seen = 0
fn twice(n: int): n * 2
seen := LIMIT
`);
    expect(plan?.globals.map(({ name, binding }) => `${binding} ${name}`)).toEqual(['let b', 'let a', 'var seen']);
    expect(plan?.loads).toMatchObject([{ global: 2, value: { kind: 'constant', value: 60, type: { kind: 'int' } } }]);
  });

  test('assignments at the top level run in the order of the text, those of an import at the import', () => {
    const { plan } = checkText('var n = 0\nn := 1\nimport "a.vpl"\nn := m', { 'a.vpl': 'var m = 0\nm := 2' });
    expect(plan?.globals.map(({ name }) => name)).toEqual(['n', 'm']);
    expect(plan?.loads.map(({ global }) => global)).toEqual([0, 1, 0]);
  });

  test('a value that needs itself is a cycle', () => {
    expect(problems('let a = b + 1\nlet b = a + 1\nlet c = f()\nfn f(): c')).toMatchInlineSnapshot(`
      "1:5 E008 \`a\` depends on itself
      3:5 E008 \`c\` depends on itself"
    `);
  });

  test('types are declared or inferred, and kept', () => {
    expect(
      problems(`
const A: str = 5
var n = 0
n := "text"
var list = [1]
list := ["a"]
var anything = null
anything := 1
A := "x"
missing := 1
`),
    ).toMatchInlineSnapshot(`
      "2:16 E062 \`A\` is str and cannot hold int
      4:6 E062 \`n\` is int and cannot hold str
      9:1 E040 \`A\` is declared with const and cannot be assigned (declare it with var)
      10:1 E034 unknown variable \`missing\` (declare it: \`var missing = ..\`)"
    `);
  });
});

describe('connectors, contexts and config blocks', () => {
  test('their parameters are constants', () => {
    const { plan } = checkText('const HOST = "h"\nconnector K = kafka (brokers: [f"{HOST}:9092"])\ncontext c (cores: [0, 1])');
    expect(plan?.connectors.map(({ name, type, parameters }) => ({ name, type, parameters }))).toEqual([
      { name: 'K', type: 'kafka', parameters: new Map([['brokers', ['h:9092']]]) },
    ]);
    expect(plan?.contexts).toEqual([{ name: 'c', parameters: new Map([['cores', [0, 1]]]) }]);
  });

  test('config mqtt declares the connector of the default input', () => {
    const { plan, program } = checkText('config mqtt:\n    broker: "localhost"\n    input_topic: "in/#"\n');
    expect(plan?.connectors.map(({ name, type }) => `${name} ${type}`)).toEqual(['mqtt_config mqtt']);
    expect(program.connectors[0]?.isDefault).toBe(true);
    expect(diagnose('config engine { threads: 2 }')).toMatchInlineSnapshot(
      `"1:8 W038 \`config engine\` has no effect on the program (settings stand in the configuration file)"`,
    );
  });
});

describe('what nothing refers to', () => {
  test('streams without effect, functions, types and aliases are warned about', () => {
    expect(
      diagnose(`
event A: k: str
type Key = str
fn lonely(n: int): lonely(n - 1)
stream Silent = A.where(k == "x")
stream Read = A.where(k == "x")
stream Loud = Read.emit(k: k)
stream Tapped = A.tap(counter: "a")
stream Aliased = A as x.emit(k: k)
stream Pair = A as one -> A as two
    .within(1m)
    .emit(k: two.k)
stream Whole = A as one -> A as two
    .within(1m)
    .emit()
`),
    ).toMatchInlineSnapshot(`
      "3:6 W040 the type \`Key\` is never used
      4:4 W040 the function \`lonely\` is never called
      5:8 W040 nothing reads the stream \`Silent\` (add .emit(..) to make its results output events)
      9:23 W040 nothing reads the alias \`x\`
      10:20 W040 nothing reads the alias \`one\`"
    `);
  });
  test('may be patterns, and one that has the name of an event says why', () => {
    expect(
      diagnose(`event A:
    k: int
event B:
    k: int
pattern Used = A -> B within 1m
pattern Idle = A -> B within 1m
pattern A = B -> B within 1m
stream S = Used.emit()
stream T = A.emit(k: k)
`),
    ).toMatchInlineSnapshot(`
      "6:9 W040 nothing uses the pattern \`Idle\`
      7:9 W040 nothing uses the pattern \`A\` (\`A\` is an event too, and that is what a stream reads by this name: rename the pattern)"
    `);
  });
});

test('a value that fails whenever it is evaluated is refused where it is declared', () => {
  expect(
    problems(`const Q = sort([true, 1])
let R = len(sort([true, 1])) + 1
let S = if false then sort([true, 1]) else [1]
stream Out = Q.emit(q: Q, r: R, s: S)
`),
  ).toMatchInlineSnapshot(`
    "1:11 E062 \`Q\` cannot be evaluated: sort: cannot compare int with bool
    2:9 E062 \`R\` cannot be evaluated: sort: cannot compare int with bool
    4:14 W030 event type \`Q\` is not declared (declare it: \`event Q:\` with its fields)"
  `);
});

test('a text that constants make too long together is refused where it becomes that', () => {
  const doubled = (times: number): string => Array.from({ length: times }, (_, n) => `const a${n + 1} = a${n} + a${n}\n`).join('');
  const program = (times: number): string =>
    `const a0 = "0123456789abcdef"\n${doubled(times)}event E:\n    v: int\nstream S = E.emit(n: len(a${times}))\n`;
  expect(problems(program(20))).toBe('');
  expect(problems(program(23))).toBe('22:13 E062 `a21` cannot be evaluated: a string may have at most 16777216 characters');
});
