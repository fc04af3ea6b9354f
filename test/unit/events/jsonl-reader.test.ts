import { describe, expect, it } from 'vitest';
import { INT, TIMESTAMP } from '../../../shared/language/plan/types.ts';
import { briefly, declare, diagnosticOf, fieldsOf, read } from './reading.ts';

const brief = (content: string): string[] => briefly('.jsonl', content);
const fields = (content: string): unknown => fieldsOf('.jsonl', content);
const diagnostic = (content: string) => diagnosticOf('.jsonl', content);
const only = (content: string) => read('.jsonl', content)[0];

describe('a line of a .jsonl file', () => {
  it('is an object with event_type and fields, flat', () => {
    expect(brief('{"event_type": "Login", "user": "ann", "age": 41}')).toEqual(['Login@0 {"user":"ann","age":41}']);
  });

  it('is an object with event_type and fields under data', () => {
    expect(brief('{"event_type": "Login", "data": {"user": "ann"}, "id": "e1"}')).toEqual(['Login@0 {"user":"ann"}']);
  });

  it('may name its type by type; beside event_type that is a field', () => {
    expect(brief('{"type": "A", "x": 1}\n{"type": "debit", "event_type": "A"}\n{"type": "A", "data": {"type": "b"}}')).toEqual([
      'A@0 {"x":1}',
      'A@0 {"type":"debit"}',
      'A@0 {"type":"b"}',
    ]);
  });

  it('keeps data as a field when it is no object', () => {
    expect(brief('{"event_type": "A", "data": [1], "x": 2}')).toEqual(['A@0 {"data":[1],"x":2}']);
  });

  it('may be blank, and then holds no event', () => {
    expect(brief('\n  \t\r\n{"type": "A"}\n\n')).toEqual(['A@0 {}']);
  });

  it('holds any JSON value in its fields, in written order', () => {
    expect(fields('{"z": -0.5e-1, "event_type": "A", "b": [true, false, null, {"c": "\\ud83d\\ude00\\/\\b\\f"}], "a": {}}')).toEqual({
      z: -0.05,
      b: [true, false, null, { c: '😀/\b\f' }],
      a: {},
    });
    expect(brief('{"b": 1, "type": "A", "a": 2}')).toEqual(['A@0 {"b":1,"a":2}']);
  });

  it('with equal keys has the last value', () => {
    expect(fields('{"type": "A", "x": 1, "x": 2, "y": {"k": 1, "k": 3}}')).toEqual({ x: 2, y: { k: 3 } });
  });

  it('takes a member __proto__ for ordinary data', () => {
    const result = only('{"type": "A", "__proto__": {"polluted": 1}, "data2": {"__proto__": 2}}');
    expect(result?.kind === 'event' && [...result.event.fields.keys()]).toEqual(['__proto__', 'data2']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('the time of a .jsonl event', () => {
  it('is the timestamp of the envelope: ISO 8601, epoch seconds or milliseconds by magnitude', () => {
    expect(
      brief(
        [
          '{"type": "A", "timestamp": "2026-01-31T10:00:00.250Z"}',
          '{"type": "A", "timestamp": "2026-01-31T11:00:00+01:00"}',
          '{"type": "A", "timestamp": 1769853600}',
          '{"type": "A", "timestamp": 1769853600.125}',
          '{"type": "A", "timestamp": 1769853600000}',
        ].join('\n'),
      ),
    ).toEqual([
      'A@1769853600250!1769853600250 {}',
      'A@1769853600000!1769853600000 {}',
      'A@1769853600000!1769853600000 {}',
      'A@1769853600125!1769853600125 {}',
      'A@1769853600000!1769853600000 {}',
    ]);
  });

  it('is @timestamp, which stays a field, where there is no timestamp', () => {
    expect(
      brief(
        [
          '{"type": "A", "@timestamp": "2026-01-31T10:00:00+0000"}',
          '{"type": "A", "@timestamp": 1769853600000000000, "data": {"x": 1}}',
          '{"type": "A", "data": {"@timestamp": 1769853600}}',
          '{"type": "A", "@timestamp": 5, "timestamp": 1769853600}',
        ].join('\n'),
      ),
    ).toEqual([
      'A@1769853600000!1769853600000 {"@timestamp":"2026-01-31T10:00:00+0000"}',
      'A@1769853600000!1769853600000 {"x":1}',
      'A@1769853600000 {"@timestamp":1769853600}',
      'A@1769853600000!1769853600000 {"@timestamp":5}',
    ]);
  });

  it('may be a whole number of nanoseconds, which no other field may hold', () => {
    const schemas = declare({ A: { at: TIMESTAMP, n: INT } });
    const kinds = ['timestamp', '@timestamp', 'at', 'n', 'other'].map((field) => {
      return read('.jsonl', `{"type": "A", "${field}": 1769853600250000000}`, { schemas })[0]?.kind;
    });
    expect(kinds).toEqual(['event', 'event', 'event', 'invalid', 'invalid']);
  });

  it('is that of the field which is named, before any other', () => {
    const times = ['.jsonl', '.evt'].flatMap((extension) =>
      read(extension, '{"type": "A", "ts": 1769853600, "timestamp": 5}\n{"type": "A", "ts": "x", "timestamp": 5}', { timeField: 'ts' }),
    );
    expect(times.map((result) => result.kind === 'event' && result.event.timestamp)).toEqual([1769853600000, 5000, 1769853600000, 5000]);
    const [named] = read('.evt', '@5s A { ts: "2026-01-31T10:00:00Z" }', { timeField: 'ts' });
    expect(named?.kind === 'event' && named.event).toMatchObject({ timestamp: 1769853600000, fallbackTime: 5000 });
  });

  it('is not a field of the event; a timestamp under data is one', () => {
    expect(fields('{"type": "A", "timestamp": 1769853600, "data": {"timestamp": 5}}')).toEqual({ timestamp: 5 });
    expect(fields('{"type": "A", "timestamp": 1769853600, "x": 1}')).toEqual({ x: 1 });
  });

  it('that is absent or null is that of the line before, 0 at first', () => {
    expect(brief('{"type": "A"}\n{"type": "A", "timestamp": 1769853600}\n{"type": "B", "timestamp": null}\n\n{"type": "C"}')).toEqual([
      'A@0 {}',
      'A@1769853600000!1769853600000 {}',
      'B@1769853600000 {}',
      'C@1769853600000 {}',
    ]);
  });

  it('of the line before may have been one of its fields', () => {
    const schemas = declare({ D: { x: INT, at: TIMESTAMP } });
    const lines =
      '{"type": "D", "at": "1970-01-01T00:00:05Z"}\n{"type": "A"}\n{"type": "B", "data": {"timestamp": "1970-01-01T00:00:07Z"}}\n{"type": "A"}';
    expect(briefly('.jsonl', lines, { schemas }).map((event) => event.split(' ')[0])).toEqual(['D@5000', 'A@5000', 'B@7000', 'A@7000']);
  });

  it.each(['"yesterday"', '"2026-02-30"', 'true', '[]', '1e300'])('that is %s makes the event invalid', (timestamp) => {
    expect(only(`{"type": "A", "timestamp": ${timestamp}}`)).toEqual({
      kind: 'invalid',
      line: 1,
      type: 'A',
      field: 'timestamp',
      message: 'expected ISO 8601 text such as "2026-01-31T10:00:00Z", or epoch seconds or milliseconds',
    });
  });
});

describe('numbers and nesting that no event may hold', () => {
  it.each([
    ['{"type": "A", "id": 9007199254740993}', 'id'],
    ['{"type": "A", "data": {"x": [0, {"id": -12345678901234567890}]}}', 'x[1].id'],
    ['{"type": "A", "id": 1e400}', 'id'],
  ])('make the event invalid, with the path of the field: %s', (line, field) => {
    expect(only(line)).toMatchObject({ kind: 'invalid', line: 1, type: 'A', field });
  });

  it('are told by the literal', () => {
    expect(fields('{"type": "A", "a": 9007199254740993.0, "b": 1e21, "c": 123456789012345678.5, "d": "9007199254740993"}')).toEqual({
      a: 9007199254740992,
      b: 1e21,
      c: 123456789012345680,
      d: '9007199254740993',
    });
  });

  it('count from the fields, flat or under data', () => {
    const array = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
    const kinds = (depth: number) => [
      only(`{"type": "A", "x": ${array(depth)}}`)?.kind,
      only(`{"type": "A", "data": {"x": ${array(depth)}}}`)?.kind,
    ];
    expect(kinds(31)).toEqual(['event', 'event']);
    expect(kinds(32)).toEqual(['invalid', 'invalid']);
  });

  it('of 100,000 levels exhaust nothing', () => {
    const deep = `${'[{"a":'.repeat(50_000)}0${'}]'.repeat(50_000)}`;
    expect(only(`{"type": "A", "x": ${deep}}`)).toMatchObject({
      kind: 'invalid',
      type: 'A',
      message: 'nested more than 32 levels deep: flatten it, or send a part of it',
    });
    expect(only(`{"x": ${deep}, "event_type": "A"}`)).toMatchObject({ kind: 'invalid', type: 'A' });
    expect(only(deep)).toMatchObject({ kind: 'unreadable' });
    expect(only(`{"type": "A", "x": ${'['.repeat(100_000)}`)).toMatchObject({ kind: 'unreadable' });
  });
});

describe('a line that is no event', () => {
  it.each([
    ['{"x": 1}', 1, 'expected a member `event_type` with the name of the event type'],
    ['{"event_type": 5}', 1, 'expected a member `event_type` with the name of the event type'],
    ['{"event_type": ""}', 1, 'expected a member `event_type` with the name of the event type'],
    ['[1]', 1, 'expected a JSON object, found `[`'],
    ['# note', 1, 'expected a JSON object, found `#`'],
    ['{"type": "A"', 13, 'expected `,` or `}` behind a value, found the end'],
    ['{"type": "A",}', 14, 'expected a field name in double quotes, found `}`'],
    ["{'type': 'A'}", 2, "expected a field name in double quotes, found `'`"],
    ['{"type" "A"}', 9, 'expected `:` behind the field name, found `"`'],
    ['{"type": "A", "x": 01}', 20, 'expected a JSON value, found `0`'],
    ['{"type": "A", "x": tru}', 20, 'expected a JSON value, found `t`'],
    ['{"type": "A", "x": [1,]}', 23, 'expected a JSON value, found `]`'],
    ['{"type": "A", "x": "\\q"}', 21, 'unknown escape in a JSON string'],
    ['{"type": "A", "x": "a\tb"}', 22, 'a control character in a string must be written as an escape, for example `\\n` or `\\u0000`'],
    ['{"type": "A", "x": "a}', 20, 'this string does not end'],
    ['{"type": "A"} {"type": "B"}', 15, 'expected the end of the line behind the object, found `{`'],
  ])('is reported with its position: %s', (line, column, message) => {
    expect(diagnostic(line)).toMatchObject({ line: 1, column, message });
  });

  it('does not stop the others', () => {
    expect(read('.jsonl', '{"type": "A"}\n{\n{"type": "A"}').map(({ kind }) => kind)).toEqual(['event', 'unreadable', 'event']);
  });
});

it('fields that hold a whole number written as a float are told to inference', () => {
  const results = read('.ndjson', '{"type": "A", "a": 7.0, "b": 7}\n{"type": "A", "data": {"c": 1e2}}', { markFloats: true });
  expect(results).toMatchObject([{ wholeFloats: ['a'] }, { wholeFloats: ['c'] }]);
});
