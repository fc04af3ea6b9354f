import { describe, expect, it } from 'vitest';
import { FLOAT, INT, STR } from '../../../shared/language/plan/types.ts';
import { briefly, declare, diagnosticOf, fieldsOf, read } from './reading.ts';

const brief = (content: string): string[] => briefly('.evt', content);
const fields = (content: string): unknown => fieldsOf('.evt', content);
const diagnostic = (content: string) => diagnosticOf('.evt', content);
const only = (content: string) => read('.evt', content)[0];

describe('the lines of an .evt file', () => {
  it('are ignored when blank or when they start with # or //', () => {
    expect(brief('\n   \n# note\n  # note { x: 1 }\n// note\n\t// note\n@1 A {}\n#')).toEqual(['A@1 {}']);
  });

  it('count as lines even when they hold no event', () => {
    expect(read('.evt', '# one\n\nA {}\nBATCH 5\nA {}').map((result) => result.kind === 'event' && result.line)).toEqual([3, 5]);
  });

  it('hold an offset, a type and fields in braces', () => {
    expect(brief('@100 Login { user: "ann", age: 41 }')).toEqual(['Login@100 {"user":"ann","age":41}']);
  });

  it('need no blanks where marks separate', () => {
    expect(brief('@100 A{x:1,y:"b"}\n\t@7\tA\t{\tx\t:\t1\t}\t')).toEqual(['A@100 {"x":1,"y":"b"}', 'A@7 {"x":1}']);
  });

  it('may end with CRLF', () => {
    expect(brief('@1 A { x: 1 }\r\n\r\n# note\r\n@2 A { x: 2 }\r\n')).toEqual(['A@1 {"x":1}', 'A@2 {"x":2}']);
  });

  it('may end with semicolons, which are ignored', () => {
    expect(brief('A { x: 1 };\nA(2) ;;\n{"event_type": "A"};\nBATCH 9;\nA {}')).toEqual([
      'A@0 {"x":1}',
      'A@0 {"field_0":2}',
      'A@0 {}',
      'A@9 {}',
    ]);
  });

  it('may end with a comment', () => {
    expect(brief('A { x: "#" } # note\nA(1) // note\n{"type": "A"} # note\nBATCH 5 # note\nA {}')).toHaveLength(4);
  });

  it('hold one event each', () => {
    expect(diagnostic('A { x: 1 } B { x: 1 }')).toMatchObject({
      column: 12,
      message: 'expected the end of the line behind the event, found `B`',
    });
  });
});

describe('an offset', () => {
  it.each([
    ['@100', 100],
    ['@100ms', 100],
    ['@5s', 5000],
    ['@2m', 120_000],
    ['@1h', 3_600_000],
    ['@1h30m', 5_400_000],
    ['@1.5s', 1500],
    ['@0.25', 0.25],
    ['@007', 7],
    ['@8640000000000000', 8_640_000_000_000_000],
  ])('may be written %s', (written, ms) => {
    expect(brief(`${written} A {}`)).toEqual([`A@${ms} {}`]);
  });

  it('that is absent is that of the line before, 0 at the start', () => {
    expect(brief('A {}\n@100 A {}\nA {}\n# note\n\nA {}\n@50 A {}\nA {}')).toEqual([
      'A@0 {}',
      'A@100 {}',
      'A@100 {}',
      'A@100 {}',
      'A@50 {}',
      'A@50 {}',
    ]);
  });

  it('may go back: such an event is displaced', () => {
    expect(brief('@5s A {}\n@1s B {}')).toEqual(['A@5000 {}', 'B@1000 {}']);
  });

  it('counts for the lines behind it though its own line cannot be read or is invalid', () => {
    expect(
      read('.evt', '@5 A { x }\nA {}\n@9 A { x: 9007199254740993 }\nA {}').map((r) => r.kind === 'event' && r.event.fallbackTime),
    ).toEqual([false, 5, false, 9]);
  });

  it('is set for the following lines by BATCH, with the same suffixes', () => {
    expect(brief('BATCH 100\nA {}\nB {}\nBATCH 2s\nA {}\n@7 A {}\nA {}\nBATCH 5m\nA {}')).toEqual([
      'A@100 {}',
      'B@100 {}',
      'A@2000 {}',
      'A@7 {}',
      'A@7 {}',
      'A@300000 {}',
    ]);
  });

  it('may precede a JSON line', () => {
    expect(brief('@100 {"event_type": "A", "x": 1}\n@2s{"type": "B"}')).toEqual(['A@100 {"x":1}', 'B@2000 {}']);
  });

  it.each([
    ['@ 100 A {}', 2, 'expected an offset behind `@`, found ` `'],
    ['@A {}', 2, 'expected an offset behind `@`, found `A`'],
    ['@-5 A {}', 2, 'expected an offset behind `@`, found `-5`'],
    ['@5x A {}', 2, 'expected an offset behind `@`, found `5x`'],
    ['@99999999999999999999 A {}', 2, 'expected an offset behind `@`, found `99999999999999999999`'],
    ['@2026-01-31T10:00:00Z A {}', 2, 'expected an offset behind `@`, found `2026-01-31T10:00:00Z`'],
    ['@', 2, 'expected an offset behind `@`, found the end'],
    ['BATCH', 6, 'expected an offset behind `BATCH`, found the end'],
    ['BATCH soon', 7, 'expected an offset behind `BATCH`, found `soon`'],
    ['@5 BATCH 7', 4, '`BATCH` sets an offset itself and takes none in front of it'],
  ])('written %s is reported', (line, column, message) => {
    expect(diagnostic(line)).toMatchObject({ line: 1, column, message });
  });

  it('does not keep a type from being called BATCH', () => {
    expect(brief('BATCH { x: 1 }\nBATCH(1)')).toEqual(['BATCH@0 {"x":1}', 'BATCH@0 {"field_0":1}']);
  });
});

describe('values in order, Type(v, v)', () => {
  const schemas = declare({ Trade: { symbol: STR, price: FLOAT, volume: INT }, Empty: {} });
  const brief = (content: string): string[] => briefly('.evt', content, { schemas });

  it('fill the fields of a declared event in order, inherited ones first', () => {
    expect(brief('Trade("ACME", 1.5, 100)')).toEqual(['Trade@0 {"symbol":"ACME","price":1.5,"volume":100}']);
  });

  it('may be fewer than the fields', () => {
    expect(brief('@5 Trade("ACME")\nTrade()\nTrade("ACME", )')).toEqual([
      'Trade@5 {"symbol":"ACME"}',
      'Trade@5 {}',
      'Trade@5 {"symbol":"ACME"}',
    ]);
  });

  it('are invalid when there are too many', () => {
    expect(read('.evt', 'Trade("ACME", 1.5, 100, 7)\nEmpty(1)', { schemas })).toEqual([
      {
        kind: 'invalid',
        line: 1,
        type: 'Trade',
        field: '',
        message: 'found 4 values, expected at most 3: Trade has symbol, price, volume',
      },
      { kind: 'invalid', line: 2, type: 'Empty', field: '', message: 'found 1 values, expected at most 0: Empty has no fields' },
    ]);
  });

  it('have names field_0, field_1 in an undeclared type', () => {
    expect(brief('Point(1, [2], {z: 3}, null)')).toEqual(['Point@0 {"field_0":1,"field_1":[2],"field_2":{"z":3},"field_3":null}']);
  });

  it('need commas between them', () => {
    expect(diagnostic('P(1 2)')).toMatchObject({ column: 5, message: 'expected `,` or `)` behind a value, found `2`' });
    expect(diagnostic('P(,)')).toMatchObject({ column: 3, message: 'expected a value, found `,`' });
    expect(diagnostic('P(1')).toMatchObject({ column: 4 });
  });
});

describe('a JSON line mixed in', () => {
  it('is read as in a .jsonl file, flat or under data', () => {
    expect(brief('@5 A {}\n{"event_type": "B", "x": [1, {"y": null}]}\n{"type": "C", "data": {"x": "\\u00e9\\n"}}')).toEqual([
      'A@5 {}',
      'B@5 {"x":[1,{"y":null}]}',
      'C@5 {"x":"é\\n"}',
    ]);
  });

  it('has the timestamp of its envelope beside its fields and keeps the offset', () => {
    expect(brief('@5 {"event_type": "A", "timestamp": "2026-01-31T10:00:00Z", "x": 1}')).toEqual(['A@5!1769853600000 {"x":1}']);
  });

  it('keeps a timestamp under data, or in braces, as a field', () => {
    expect(brief('{"event_type": "A", "data": {"timestamp": 5}}\nA { timestamp: 6 }')).toEqual([
      'A@0 {"timestamp":5}',
      'A@0 {"timestamp":6}',
    ]);
  });
});

describe('a value', () => {
  it('is text in double quotes, a number, true, false, null, nil, an array or a map', () => {
    expect(
      fields('A { a: "x y", b: -1.5e3, c: true, d: false, e: null, f: nil, g: [1, "b", [true], {}], h: {k: 1, "l m": {n: 2}} }'),
    ).toEqual({
      a: 'x y',
      b: -1500,
      c: true,
      d: false,
      e: null,
      f: null,
      g: [1, 'b', [true], {}],
      h: { k: 1, 'l m': { n: 2 } },
    });
  });

  it('is text in single quotes, where a backslash is a backslash and two quotes are one', () => {
    expect(fields(String.raw`A { a: 'C:\new', b: 'it''s', c: '', d: '"' }`)).toEqual({ a: String.raw`C:\new`, b: "it's", c: '', d: '"' });
  });

  it('may escape characters in double quotes', () => {
    expect(fields(String.raw`A { a: "\n\t\r\"\\", b: "\u{1F600}|\u{e9}|\u00e9|\ud83d\ude00" }`)).toEqual({
      a: '\n\t\r"\\',
      b: '😀|é|é|😀',
    });
  });

  it('keeps unknown escapes as written', () => {
    expect(fields(String.raw`A { a: "C:\Windows\System32", b: "\d+\.\d", c: "\u{110000}\u12", d: "\b\'" }`)).toEqual({
      a: String.raw`C:\Windows\System32`,
      b: String.raw`\d+\.\d`,
      c: String.raw`\u{110000}\u12`,
      d: String.raw`\b\'`,
    });
  });

  it('may hold marks of the format inside quotes', () => {
    expect(fields('A { a: "} # , : [", b: \'{@5s};\' }')).toEqual({ a: '} # , : [', b: '{@5s};' });
  });

  it('is text when it is an unquoted word', () => {
    expect(
      fields('A { a: active, b: 5m, c: 10.0.0.1, d: 2026-01-31T10:00:00Z, e: True, f: http://x.org/?q=1#a, g: größe, h: nil2 }'),
    ).toEqual({
      a: 'active',
      b: '5m',
      c: '10.0.0.1',
      d: '2026-01-31T10:00:00Z',
      e: 'True',
      f: 'http://x.org/?q=1#a',
      g: 'größe',
      h: 'nil2',
    });
  });

  it('is a number in any of the usual forms', () => {
    expect(fields('A { a: 0, b: -0, c: 1.50, d: 1e3, e: 2.5E-3, f: +5, g: .5, h: 5., i: 0.1, j: 123456.789, k: 100.55 }')).toEqual({
      a: 0,
      b: -0,
      c: 1.5,
      d: 1000,
      e: 0.0025,
      f: 5,
      g: 0.5,
      h: 5,
      i: 0.1,
      j: 123456.789,
      k: 100.55,
    });
  });

  it('with a leading zero stays text, so that no code or id is changed', () => {
    expect(fields('A { a: 007, b: 0.7, c: -01, d: 1_000 }')).toEqual({ a: '007', b: 0.7, c: '-01', d: '1_000' });
  });

  it('may be followed by a trailing comma', () => {
    expect(fields('A { a: [1, 2,], b: {x: 1,}, }')).toEqual({ a: [1, 2], b: { x: 1 } });
  });
});

describe('a field name', () => {
  it('may be quoted', () => {
    expect(fields('A { "first name": 1, \'last name\': 2, `c-d`: 3, "": 4 }')).toEqual({
      'first name': 1,
      'last name': 2,
      'c-d': 3,
      '': 4,
    });
  });

  it('may be any word', () => {
    expect(fields('A { cs-uri-query: 1, $x: 2, true: 3, 1: 4, naïve: 5 }')).toEqual({ 'cs-uri-query': 1, $x: 2, true: 3, 1: 4, naïve: 5 });
  });

  it('that comes twice has the last value', () => {
    expect(fields('A { x: 1, y: 2, x: 3 }')).toEqual({ x: 3, y: 2 });
  });

  it('may be __proto__, which is ordinary data', () => {
    const [result] = read('.evt', 'A { __proto__: { polluted: true }, "constructor": 1 }');
    expect(result?.kind === 'event' && [...result.event.fields.keys()]).toEqual(['__proto__', 'constructor']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('numbers that no event may hold', () => {
  const beyond = (literal: string) =>
    `whole number ${literal} is beyond 2^53-1 and would change: send it as text, and declare the field \`str\``;

  it.each([
    ['A { id: 9007199254740992 }', 'id', '9007199254740992'],
    ['A { x: 1, id: -9007199254740993 }', 'id', '-9007199254740993'],
    ['A { items: [1, {id: 12345678901234567890}] }', 'items[1].id', '12345678901234567890'],
    ['A(1, 9007199254740992)', 'field_1', '9007199254740992'],
    ['A { id: +9007199254740992 }', 'id', '+9007199254740992'],
  ])('make the event invalid, not unreadable: %s', (line, field, literal) => {
    expect(only(line)).toEqual({ kind: 'invalid', line: 1, type: 'A', field, message: beyond(literal) });
  });

  it('are told by the literal: with a point or an exponent it is a float', () => {
    expect(fields('A { a: 9007199254740993.0, b: 1e21, c: 1E+30, d: 9007199254740991, e: -9007199254740991 }')).toEqual({
      a: 9007199254740992,
      b: 1e21,
      c: 1e30,
      d: 9007199254740991,
      e: -9007199254740991,
    });
  });

  it('include those that are not finite', () => {
    expect(only('A { x: 1e400 }')).toMatchObject({
      kind: 'invalid',
      field: 'x',
      message: expect.stringContaining('too large for a float'),
    });
    expect(only('A { x: -1.5e999 }')).toMatchObject({ kind: 'invalid', field: 'x' });
  });

  it('are no matter inside text or a word', () => {
    expect(fields('A { a: "9007199254740993", b: 9007199254740993x, c: 1e400.5 }')).toEqual({
      a: '9007199254740993',
      b: '9007199254740993x',
      c: '1e400.5',
    });
  });
});

describe('nesting', () => {
  const nested = (depth: number, inner = ''): string => `A { x: ${'['.repeat(depth)}${inner}${']'.repeat(depth)} }`;

  it('may reach 32 levels, the field included', () => {
    expect(only(nested(31, '1'))?.kind).toBe('event');
    expect(only(nested(32))?.kind).toBe('event');
  });

  it('beyond it makes the event invalid', () => {
    expect(only(nested(32, '1'))?.kind).toBe('invalid');
    expect(only(nested(33))).toEqual({
      kind: 'invalid',
      line: 1,
      type: 'A',
      field: `x${'[0]'.repeat(31)}`,
      message: 'nested more than 32 levels deep: flatten it, or send a part of it',
    });
  });

  it('of 100,000 brackets exhausts nothing', () => {
    expect(only(nested(100_000, '"]"'))?.kind).toBe('invalid');
    expect(only(`A { x: ${'{a:'.repeat(100_000)}'}'${'}'.repeat(100_000)} }`)?.kind).toBe('invalid');
    expect(only(`A { x: ${'['.repeat(100_000)}`)?.kind).toBe('unreadable');
    expect(only('['.repeat(100_000))?.kind).toBe('unreadable');
    expect(only('A('.repeat(100_000))?.kind).toBe('unreadable');
  });
});

describe('a line that cannot be read', () => {
  it('is reported with line, column, message, excerpt and hint, and the others run', () => {
    expect(read('.evt', '@1 A { x: 1 }\n@2 A { x 2 }\n@3 A { x: 3 }\n')).toEqual([
      expect.objectContaining({ kind: 'event', line: 1 }),
      {
        kind: 'unreadable',
        diagnostic: {
          line: 2,
          column: 10,
          message: 'expected `:` behind the field name `x`, found `2`',
          excerpt: '@2 A { x 2 }',
          excerptColumn: 10,
        },
      },
      expect.objectContaining({ kind: 'event', line: 3 }),
    ]);
  });

  it('has its column in code points', () => {
    expect(diagnostic('A { größe: "😀😀", x }')).toMatchObject({
      column: 20,
      message: 'expected `:` behind the field name `x`, found `}`',
    });
  });

  it.each([
    ['nonsense', 9, 'expected `{` or `(` behind the event type `nonsense`, found the end'],
    ['A: { x: 1 }', 2, 'expected `{` or `(` behind the event type `A`, found `:`'],
    ['123', 1, 'expected an event type, found `1`'],
    ['@5', 3, 'expected an event type, found the end'],
    ['A { x: 1', 9, 'expected `,` or `}` behind a value, found the end'],
    ['A { x: "abc }', 8, 'this string does not end'],
    ['A { x: "abc\\" }', 8, 'this string does not end'],
    ["A { x: 'abc'' }", 8, 'this string does not end'],
    ['A { x: }', 8, 'expected a value, found `}`'],
    ['A { , }', 5, 'expected a field name or `}`, found `,`'],
    ['A { x: John Smith }', 13, 'expected `,` or `}` behind a value, found `S`'],
    ['A { x: [1 2] }', 11, 'expected `,` or `]` behind a value, found `2`'],
    ['A { x: 1 }}', 11, 'expected the end of the line behind the event, found `}`'],
    ['{"x": 1}', 1, 'expected a member `event_type` with the name of the event type'],
    ['{"event_type": "A", x: 1}', 21, 'expected a field name in double quotes, found `x`'],
    ['A { x:\u00a01 }', 7, 'expected a value, found the character U+00A0'],
    ['\u0000', 1, 'expected an event type, found the character U+0000'],
    ['A { x: \u0000 }', 8, 'expected a value, found the character U+0000'],
  ])('names the position and what is wrong: %s', (line, column, message) => {
    expect(diagnostic(line)).toMatchObject({ line: 1, column, message });
  });

  it('shows control characters and tabs without moving the columns', () => {
    expect(diagnostic('A\t{ \u001b[31m }').excerpt).toBe('A { ␛[31m }');
  });

  it('shows the part of a long line around the position', () => {
    const { excerpt, excerptColumn, column } = diagnostic(`A { x: "${'é'.repeat(500)}", y z: ${'1'.repeat(500)} }`);
    expect(column).toBe(514);
    expect([...excerpt][excerptColumn - 1]).toBe('z');
    expect([...excerpt].length).toBeLessThanOrEqual(162);
    expect(excerpt).toMatch(/^…é+", y z: 1+…$/);
  });
});

describe('inference', () => {
  it('is told which fields hold a whole number written as a float', () => {
    const [first, second] = read('.evt', 'A { a: 7.0, b: 7, c: 1e3, d: [1, 2.0], e: 7.5 }\nA(1, 2.0)', { markFloats: true });
    expect(first).toMatchObject({ wholeFloats: ['a', 'c', 'd'] });
    expect(second).toMatchObject({ wholeFloats: ['field_1'] });
    expect(read('.evt', 'A { a: 7.0 }')[0]).not.toHaveProperty('wholeFloats');
  });
});
