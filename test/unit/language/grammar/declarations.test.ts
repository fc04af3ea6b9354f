import { describe, expect, it } from 'vitest';
import { errorLines, printed, read, readAs } from './reading.ts';

describe('lines', () => {
  it('end a statement, unless a bracket is open or the next line goes on', () => {
    expect(read('let a = [\n1,\n\n2\n]\nlet b = 2').statements).toHaveLength(2);
    const continued = [
      '.b',
      '-> 1',
      'and b',
      'or b',
      '+ b',
      '- b',
      '* b',
      '/ b',
      '% b',
      '< b',
      '>= b',
      '== b',
      '!= b',
      '?? b',
      '| b',
      '^ b',
      '& b',
      '<< b',
      'in b',
      'not in b',
      'is null',
      '?.b',
      '.. b',
      '&& b',
      '|| b',
    ];
    for (const line of continued.filter((text) => text !== '-> 1')) expect(read(`let a = x\n\n  ${line}`).statements).toHaveLength(1);
    expect(printed('stream X = A\n\n# note\n  as a\n  -> B\n  where x > 1\n /* two\n lines */\n  within 5m\n  partition by k')).toBe(
      'stream X = A as a -> B where x > 1 within 5m partition by k',
    );
  });

  it('do not go on because they end with an operator', () => {
    expect(errorLines('let a = 1 +\nlet b = 2')).toEqual([
      '1:12 unexpected end of line; expected an expression (a line does not continue because it ends with an operator: begin the next line with the operator)',
    ]);
  });

  it('may end with a carriage return, begin with a byte order mark, or be indented all alike', () => {
    expect(read('\ufeffevent E:\r\n    a: int\r\n\r\nlet x = 1\r\n').statements).toHaveLength(2);
    expect(read('    let x = 1\n    let y = 2').statements).toHaveLength(2);
    expect(read('').statements).toEqual([]);
    expect(read('\n \n# only a comment').statements).toEqual([]);
  });

  it('take comments of all three forms', () => {
    const { comments, statements } = read('let a = 1 # one\n// two\nlet b = 2 // three\n/* four\nfive */ let c = 4/2 /* six */\n');
    expect(statements).toHaveLength(3);
    expect(comments.map(({ text, ownLine }) => [text, ownLine])).toEqual([
      ['# one', false],
      ['// two', true],
      ['// three', false],
      ['/* four\nfive */', true],
      ['/* six */', false],
    ]);
  });

  it('take no comment inside strings, nor `//` without a blank before it', () => {
    expect(read('let a = "http://x#y" + \'/* */\'').comments).toEqual([]);
    expect(errorLines('let a = 4//2')).toEqual([
      '1:10 unexpected `//`; expected an expression (a comment with `//` needs a blank before it; `div(a, b)` divides ints)',
    ]);
  });
});

describe('declarations', () => {
  it('reads events with fields of every type', () => {
    expect(
      readAs(
        'EventDeclaration',
        'event AdminLogin extends common.Login:\n    user: str\n    at: timestamp\n    score: float?\n    tags: [str]?\n    extra: {str: [any]}\n    `cs-uri`: UserId',
      ),
    ).toMatchObject({
      name: { text: 'AdminLogin' },
      parent: { text: 'common.Login' },
      fields: [
        { name: { text: 'user' }, type: { kind: 'NamedType', name: 'str' } },
        { type: { name: 'timestamp' } },
        { type: { kind: 'OptionalType', of: { name: 'float' } } },
        { type: { kind: 'OptionalType', of: { kind: 'ArrayType', item: { name: 'str' } } } },
        { type: { kind: 'MapType', key: { name: 'str' }, value: { kind: 'ArrayType' } } },
        { name: { text: 'cs-uri', quoted: true } },
      ],
    });
  });

  it('reads events on one line and without fields', () => {
    expect(readAs('EventDeclaration', 'event E: a: int, b: str').fields).toHaveLength(2);
    expect(readAs('EventDeclaration', 'event Ping').fields).toEqual([]);
    expect(readAs('EventDeclaration', 'event Ping:').fields).toEqual([]);
  });

  it('takes any word before a colon as a field', () => {
    const words = ['where', 'as', 'within', 'in', 'and', 'or', 'not', 'null', 'if', 'else', 'event', 'stream', 'is', 'partition', 'AND'];
    const fields = readAs('EventDeclaration', `event E:\n${words.map((word) => `    ${word}: int`).join('\n')}`).fields;
    expect(fields.map(({ name }) => name.text)).toEqual(words);
  });

  it('reads types', () => {
    expect(readAs('TypeDeclaration', 'type UserId = str').alias).toMatchObject({ name: 'str' });
    expect(readAs('TypeDeclaration', 'type Point:\n  x: int\n  y: int').fields).toHaveLength(2);
    expect(readAs('TypeDeclaration', 'type Point: x: int, y: int').fields).toHaveLength(2);
    expect(readAs('TypeDeclaration', 'type T = Stream<{str: int}, common.X?>').alias).toMatchObject({
      name: 'Stream',
      parameters: [{}, { kind: 'OptionalType' }],
    });
    expect(readAs('TypeDeclaration', 'type T = (int, str)').alias).toMatchObject({ name: 'tuple', parameters: [{}, {}] });
  });

  it('reads bindings and assignments', () => {
    expect(readAs('BindingDeclaration', 'const LIMIT = 10_000')).toMatchObject({ binding: 'const', name: { text: 'LIMIT' }, type: null });
    expect(readAs('BindingDeclaration', 'let rate: float = LIMIT / 60')).toMatchObject({ binding: 'let', type: { name: 'float' } });
    expect(readAs('BindingDeclaration', 'var seen = 0')).toMatchObject({ binding: 'var' });
    expect(readAs('AssignmentStatement', 'seen := seen + 1')).toMatchObject({ target: { text: 'seen' } });
    for (const word of ['stream', 'event', 'let', 'if', 'within']) {
      if (word !== 'if')
        expect(read(`let x = 1\n${word} := 5`).statements[1]).toMatchObject({ kind: 'AssignmentStatement', target: { text: word } });
    }
  });

  it('reads connectors, contexts, configs and imports', () => {
    expect(readAs('ConnectorDeclaration', 'connector K = kafka (brokers: ["k1:9092"], group_id: "g")')).toMatchObject({
      type: { text: 'kafka' },
      parameters: [{ name: { text: 'brokers' } }, {}],
    });
    expect(readAs('ConnectorDeclaration', 'connector C = console').parameters).toEqual([]);
    expect(readAs('ContextDeclaration', 'context hot (cores: [0])').parameters).toHaveLength(1);
    expect(readAs('ContextDeclaration', 'context hot').parameters).toEqual([]);
    expect(readAs('ConfigDeclaration', 'config mqtt { broker: "b", port: 1883 }').entries).toHaveLength(2);
    expect(readAs('ConfigDeclaration', 'config mqtt {\n  broker: "b"\n  port: 1883\n}').entries).toHaveLength(2);
    expect(readAs('ConfigDeclaration', 'config mqtt:\n  broker: "b"\n  tls:\n    ca: "x"\n  within: 5m')).toMatchObject({
      entries: [{}, { name: { text: 'tls' }, value: { kind: 'MapLiteral', entries: [{ key: 'ca' }] } }, { name: { text: 'within' } }],
    });
    expect(readAs('ImportDeclaration', 'import "common.vpl" as common')).toMatchObject({
      path: { value: 'common.vpl' },
      alias: { text: 'common' },
    });
    expect(readAs('ImportDeclaration', 'import "common.vpl"').alias).toBeNull();
  });

  it('reads functions with every statement', () => {
    expect(
      printed(`fn f(a: float, b, c: [int]?) -> bool:
    let x: int = 1
    var y = 2
    y := y + 1
    if a > 1: return true
    elif b:
        emit Alert(a: a, \`b-c\`: 2)
    else:
        while y < 3:
            break
    for k in {a: 1}:
        continue
    for i in 10: y := y + i; print(y)
    return
    if a then b else c
    y`),
    ).toBe(`fn f(a: float, b, c: [int]?) -> bool:
    let x: int = 1
    var y = 2
    y := y + 1
    if a > 1:
        return true
    elif b:
        emit Alert(a: a, \`b-c\`: 2)
    else:
        while y < 3:
            break
    for k in { a: 1 }:
        continue
    for i in 10:
        y := y + i
        print(y)
    return
    if a then b else c
    y`);
    expect(printed('fn f(): let x = 1; x.first(y => y > 0)')).toBe('fn f():\n    let x = 1\n    x.first(y => y > 0)');
  });

  it('reads compile-time `for` and `if`', () => {
    const loop = readAs(
      'ForDeclaration',
      'for i in 0..4:\n    stream Zone{i}_x = Reading{i}.where(zone == {i} and name == "S{i}" and f"{i}" == s)',
    );
    expect(loop).toMatchObject({
      variable: { text: 'i' },
      range: { kind: 'Range' },
      body: [{ kind: 'StreamDeclaration', name: { text: 'Zone{i}_x' }, source: { path: [{ text: 'Reading{i}' }] } }],
    });
    const [stream] = loop.body;
    expect(JSON.stringify(stream)).toContain('"kind":"Hole"');
    expect(JSON.stringify(stream)).toContain('"value":"S{i}"');
    expect(printed('for i in 0..2:\n  for j in 0..=2:\n    let v{i}_{j} = {i} + {j}\n  if {i} > 1: const c{i} = 1')).toBe(
      'for i in 0..2:\n    for j in 0..=2:\n        let v{i}_{j} = {i} + {j}\n\n    if {i} > 1:\n        const c{i} = 1'.replace(
        '\n\n',
        '\n',
      ),
    );
    expect(readAs('IfDeclaration', 'if LIMIT > 5:\n  let a = 1\nelif LIMIT > 3: let a = 2\nelse:\n  let a = 3\n  let b = 4')).toMatchObject(
      {
        branches: [{ condition: { kind: 'Binary' }, body: [{}] }, { body: [{}] }],
        otherwise: [{}, {}],
      },
    );
    expect(readAs('ForDeclaration', 'for i in 0..4: stream Z{i} = A').body).toHaveLength(1);
  });

  it('reads tests', () => {
    expect(
      readAs(
        'TestDeclaration',
        `test "brute force is reported once":
    at 0s   LoginFailed { user: "ann", ip: "1.2.3.4" }
    at 9s   LoginOk
    advance 10m
    expect Alerts { user: "ann", failures: 2 } once
    expect Alerts { user: "ann" } 3 times
    expect Alerts
    expect no Alerts
    expect no common.Alerts { user: "bob" }`,
      ),
    ).toMatchObject({
      name: { value: 'brute force is reported once' },
      steps: [
        { kind: 'TestEvent', at: { ms: 0 }, type: { text: 'LoginFailed' }, fields: [{ key: 'user' }, { key: 'ip' }] },
        { kind: 'TestEvent', fields: [] },
        { kind: 'TestAdvance', by: { ms: 600_000 } },
        { kind: 'TestExpectation', count: 1, fields: [{}, {}] },
        { kind: 'TestExpectation', count: 3 },
        { kind: 'TestExpectation', count: null, fields: [] },
        { kind: 'TestExpectation', count: 0 },
        { kind: 'TestExpectation', count: 0, stream: { text: 'common.Alerts' } },
      ],
    });
  });
});

describe('errors', () => {
  it('cost one line each, also inside blocks', () => {
    const text = `event E:
    a: int
    b int
    c: float
let x = )
fn f(y):
    let = 1
    return y +
    y
streem Z = A
stream S = A.where(x > )
let ok = 1
test "t":
    at 5s
    expect X {`;
    const { statements } = (() => {
      const lines = errorLines(text);
      expect(lines.map((line) => line.split(' ')[0])).toEqual(['3:7', '5:9', '7:9', '8:15', '10:1', '11:24', '14:10', '15:14']);
      return { statements: lines };
    })();
    expect(statements).toHaveLength(8);
  });

  it('leave the rest of the program in the tree', () => {
    expect(errorLines('event E:\n  a: int\n  b int\n  c: str\nlet x = (\nstream S = A').length).toBe(2);
  });

  it('are counted in code points', () => {
    expect(errorLines('let x = "😀é" )')).toEqual(['1:14 this `)` closes nothing']);
  });
});
