import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { INT, TIMESTAMP } from '../../../shared/language/plan/types.ts';
import { countEvents, countEventsExactly } from '../../../worker/runtime/pipelines/event-count.ts';
import { isProblem, type RequestEntry, RequestReader } from '../../../worker/runtime/requests/request-reader.ts';
import type { InjectFormat } from '../../../worker/runtime/service.ts';

const reader = new RequestReader();

function entries(text: string, format: InjectFormat): readonly RequestEntry[] {
  const reading = reader.read(text, format);
  if ('unreadable' in reading) throw new Error(reading.unreadable.message);
  return reading.entries;
}

const plain = (entry: RequestEntry | undefined): unknown => (entry && !isProblem(entry) ? { ...entry, fields: [...entry.fields] } : entry);

describe('the reader of requests', () => {
  it('reads a single event, its fields in written order', () => {
    expect(plain(entries(' {"fields": {"b": 1, "a": "x"}, "event_type": "A", "id": "7"} ', 'event')[0])).toEqual({
      type: 'A',
      fields: [
        ['b', 1],
        ['a', 'x'],
      ],
      timestamp: undefined,
      unknownMembers: [],
    });
  });

  it.each([
    ['1767225600250', 1_767_225_600_250],
    ['5', 5],
    ['0.5', 0.5],
    ['"2026-01-01T00:00:00.250Z"', 1_767_225_600_250],
    ['"2026-01-01T01:00:00.25+01:00"', 1_767_225_600_250],
  ])('takes a timestamp of %s as epoch milliseconds or RFC 3339', (text, timestamp) => {
    expect(entries(`{"event_type":"A","fields":{},"timestamp":${text}}`, 'event')).toEqual([expect.objectContaining({ timestamp })]);
  });

  it.each([
    ['1767225600', 1_767_225_600_000],
    ['1767225600.25', 1_767_225_600_250],
    ['1767225600250', 1_767_225_600_250],
    ['1767225600250000', 1_767_225_600_250],
    ['1767225600250000000', 1_767_225_600_250],
    ['"2026-01-01T00:00:00.250Z"', 1_767_225_600_250],
  ])('takes a timestamp of %s by its size where a source has read it, or it stands among the fields', (text, timestamp) => {
    for (const shape of ['"x":1', '"data":{"x":1}', '"fields":{"x":1}']) {
      const line = `{"event_type":"A",${shape},"timestamp":${text}}`;
      expect(reader.read(line, 'ndjson', { isFromSource: true }), shape).toMatchObject({ entries: [{ timestamp }] });
    }
    expect(reader.read(`{"event_type":"A","x":1,"timestamp":${text}}`, 'flat')).toMatchObject({ entries: [{ timestamp }] });
  });

  it('says what a time is where a source has read none', () => {
    const reading = reader.read('{"event_type":"A","timestamp":true}', 'ndjson', { isFromSource: true });
    expect(reading).toEqual({
      entries: [{ field: 'timestamp', message: 'expected a number since the epoch or RFC 3339 text, found a bool' }],
    });
  });

  it('takes nanoseconds in a field that is declared as a timestamp, and in no other', () => {
    const fields = [
      { name: 'at', type: TIMESTAMP, optional: false },
      { name: 'id', type: INT, optional: true },
    ];
    const options = { schemas: new EventSchemas([{ name: 'A', fields }]) };
    const found = (text: string, format: InjectFormat): unknown => {
      const reading = reader.read(text, format, options);
      return 'entries' in reading && reading.entries.map((entry) => (isProblem(entry) ? entry.field : entry.fields.get('at')));
    };
    const forms: readonly (readonly [InjectFormat, (type: string, field: string) => string])[] = [
      ['event', (type, field) => `{"fields":{"${field}":1769853600000000000},"event_type":"${type}"}`],
      ['batch', (type, field) => `{"events":[{"event_type":"${type}","fields":{"${field}":1769853600000000000}}]}`],
      ['ndjson', (type, field) => `{"data":{"${field}":1769853600000000000},"type":"${type}"}`],
      ['flat', (type, field) => `{"event_type":"${type}","${field}":1769853600000000000}`],
    ];
    for (const [format, textOf] of forms) {
      expect([textOf('A', 'at'), textOf('A', 'id'), textOf('B', 'at')].map((text) => found(text, format))).toEqual([
        [1_769_853_600_000_000_000],
        ['id'],
        ['at'],
      ]);
    }
  });

  it('refuses null as a timestamp, but in a line as files have them', () => {
    const text = '{"event_type":"A","fields":{},"timestamp":null}';
    for (const body of [entries(text, 'event'), entries(`{"events":[${text}]}`, 'batch')])
      expect(body).toEqual([{ field: 'timestamp', message: 'expected epoch milliseconds or RFC 3339 text, found nothing' }]);
    expect(entries(text, 'ndjson')).toEqual([expect.objectContaining({ timestamp: undefined })]);
  });

  it('takes the time from a field that is named, wherever it stands, and from @timestamp', () => {
    const times = (text: string, timeField?: string): unknown => {
      const reading = reader.read(text, 'ndjson', { timeField });
      return 'entries' in reading && reading.entries.map((entry) => (isProblem(entry) ? entry.message : entry.timestamp));
    };
    const forms = [
      '"fields":{"ts":1767225600250}',
      '"data":{"v":1},"ts":"2026-01-01T00:00:00.25Z"',
      '"ts":1767225600250000000,"timestamp":5',
    ];
    for (const form of forms) expect(times(`{"event_type":"A",${form}}`, 'ts'), form).toEqual([1_767_225_600_250]);
    expect(times('{"event_type":"A","ts":"soon","timestamp":5}', 'ts')).toEqual([5]);
    expect(times('{"event_type":"A","ts":1767225600250,"v":1}')).toEqual([undefined]);
    expect(times('{"event_type":"A","data":{},"@timestamp":"2026-01-01T00:00:00.25Z"}')).toEqual([1_767_225_600_250]);
    expect(times('{"event_type":"A","id":1767225600250000000}', 'ts')).toEqual([expect.stringContaining('beyond 2^53-1')]);
  });

  it.each([
    ['[1]', ''],
    ['"A"', ''],
    ['{"event_type": 5, "fields": {}}', 'event_type'],
    ['{"event_type": "", "fields": {}}', 'event_type'],
    ['{"type": "A", "fields": {}}', 'event_type'],
    ['{"event_type": "A", "a": 1}', 'fields'],
    ['{"event_type": "A", "fields": null}', 'fields'],
    ['{"event_type": "A", "fields": [1]}', 'fields'],
    ['{"event_type": "A", "fields": {}, "timestamp": true}', 'timestamp'],
    ['{"event_type": "A", "fields": {}, "timestamp": "soon"}', 'timestamp'],
    ['{"event_type": "A", "fields": {"a": {"b": [0, 1e999]}}}', 'a.b[1]'],
    ['{"event_type": "A", "fields": {"id": 12345678901234567890}}', 'id'],
    [`{"event_type": "A", "fields": {"deep": ${'['.repeat(40)}${']'.repeat(40)}}}`, 'deep'],
  ])('names what is wrong with %s', (text, field) => {
    for (const format of ['event', 'batch'] as const) {
      expect(entries(format === 'event' ? text : `{"events": [${text}]}`, format)).toMatchObject([
        { field: expect.stringContaining(field), message: expect.any(String) },
      ]);
    }
  });

  it('reads fields beside the type only where that is the shape', () => {
    const flat = '{"event_type": "A", "fields": {"x": 1}, "data": 2, "type": "t", "id": 3}';
    expect(plain(entries(flat, 'flat')[0])).toMatchObject({
      type: 'A',
      fields: [
        ['fields', new Map([['x', 1]])],
        ['data', 2],
        ['type', 't'],
        ['id', 3],
      ],
    });
    expect(plain(entries('{"type": "A", "x": 1}', 'ndjson')[0])).toMatchObject({ type: 'A', fields: [['x', 1]] });
    expect(plain(entries('{"event_type": "A", "data": {"x": 1}, "y": 2}', 'ndjson')[0])).toMatchObject({ fields: [['x', 1]] });
  });

  it.each([
    ...['', '{', '{"events": [}', '{"events": [{}', '{"events": 5', '{"events": []} x', '{"events": [] , }'].map((text) => [
      text,
      'invalid_json',
    ]),
    ...['{"events": {}}', '{"events": 5}', '{"event": []}', '{}', '[]', '5', 'null'].map((text) => [text, 'validation_error']),
  ])('says where a batch of %j cannot be read, and whether it is JSON: %s', (text, code) => {
    expect(reader.read(text, 'batch')).toEqual({ unreadable: { code, message: expect.stringMatching(/^at character \d+: /) } });
  });

  it.each([
    [
      '{"durable":true,"events":[]}',
      "at character 12: unknown member 'durable' beside `events` (did you mean the query parameter 'durable'?)",
    ],
    [
      '{"events":[],"output":false}',
      "at character 23: unknown member 'output' beside `events` (did you mean the query parameter 'outputs'?)",
    ],
    ['{"event":[]}', "at character 10: unknown member 'event' beside `events` (did you mean 'events'?)"],
    ['{"events":[],"x":{"y":[1]}}', "at character 18: unknown member 'x' beside `events`"],
  ])('refuses a batch with more than its events, %s, unless that is passed over', (text, message) => {
    expect(reader.read(text, 'batch')).toEqual({ unreadable: { code: 'validation_error', message } });
    if (text.includes('"events"')) expect(reader.read(text, 'batch', { isEnvelopeOpen: true })).toEqual({ entries: [] });
  });

  it('takes each line on its own', () => {
    const lines = entries('\n{"event_type":"A"}\r\n  \nnonsense\n{"event_type":"B"} {"event_type":"C"}\n{"event_type":"D"}', 'ndjson');
    expect(lines.map((line) => (isProblem(line) ? 'problem' : line.type))).toEqual(['A', 'problem', 'problem', 'D']);
  });

  it('reads what JSON.parse reads, whatever the event, in every format', () => {
    const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => JSON.stringify(value) !== undefined);
    const events = fc.array(fc.record({ event_type: fc.string({ minLength: 1 }), fields: fc.dictionary(fc.string(), json) }), {
      maxLength: 8,
    });
    const asJson = (value: unknown): unknown => {
      if (value instanceof Map) return Object.fromEntries(Array.from(value, ([key, item]) => [key, asJson(item)]));
      return Array.isArray(value) ? value.map(asJson) : value;
    };
    fc.assert(
      fc.property(events, (given) => {
        const expected = given.map((event) => JSON.parse(JSON.stringify(event)));
        const found = (format: InjectFormat, text: string): unknown =>
          entries(text, format).map((entry) => (isProblem(entry) ? entry : { event_type: entry.type, fields: asJson(entry.fields) }));
        const isSafe = !/\d{16}/.test(JSON.stringify(given)) && !/e\+?\d/.test(JSON.stringify(given));
        fc.pre(isSafe);
        expect(found('batch', JSON.stringify({ events: given }))).toEqual(expected);
        expect(found('ndjson', given.map((event) => JSON.stringify(event)).join('\n'))).toEqual(expected);
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(
            '{',
            '}',
            '[',
            ']',
            '"',
            ':',
            ',',
            'e',
            '1',
            '\\',
            '\n',
            ' ',
            '"events"',
            '"event_type"',
            '"fields"',
            '{"a":1}',
          ),
        }),
        (text) => {
          for (const format of ['event', 'batch', 'ndjson', 'flat'] as const) expect(reader.read(text, format)).toBeDefined();
        },
      ),
    );
  });
});

describe('the count of events before they are read', () => {
  const count = (text: string, format: InjectFormat): number => countEvents(Buffer.from(text), format);

  it('is exact for what clients write', () => {
    const events = Array.from({ length: 37 }, (_, n) => ({ event_type: 'A', fields: { n } }));
    expect(count(JSON.stringify({ events }), 'batch')).toBe(37);
    expect(count(events.map((event) => JSON.stringify(event)).join('\n'), 'ndjson')).toBe(37);
    expect(count(`${events.map((event) => JSON.stringify(event)).join('\n')}\n`, 'ndjson')).toBe(37);
    expect([count('{}', 'event'), count('', 'ndjson')]).toEqual([1, 0]);
  });

  it.each<[InjectFormat, string, number]>([
    ['batch', '{"events":[{"event_type":"A","fields":{"event_type":"x","l":[{"n":1},{}]}},{"event_type":"B","s":"[{\\"{"}]}', 2],
    ['batch', '[{"event\\u005ftype":"A"},{"event_type":"A"},{}]', 3],
    ['batch', '{"more":{"a":[1]},"events":[ {} , {} ]}', 2],
    ['batch', '{"events":[{"a":"', 1],
    ['ndjson', '\n{"a":1}\n  \r\n\n{"b":2}', 2],
    ['ndjson', '{}\n', 1],
    ['event', '[[', 1],
  ])('is exact when that is asked for: %s %s', (format, text, events) => {
    expect(countEventsExactly(Buffer.from(text), format)).toBe(events);
  });
});
