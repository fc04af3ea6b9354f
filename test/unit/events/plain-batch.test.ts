import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { plainBatchIn, plainEventIn } from '../../../shared/events/reading/plain-batch.ts';
import { eventBatchSchema } from '../../../shared/protocol/events.ts';

const batches = Compile(eventBatchSchema);
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', 'ä', '{"', '\u0000', ']}'));
const value = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null));
const plainEvent = fc.record(
  {
    event_type: text.filter((name) => name !== ''),
    fields: fc.dictionary(text, value),
    timestamp: fc.oneof(text, fc.integer({ min: 1, max: 1e15 - 1 })),
    id: text,
  },
  { requiredKeys: ['event_type', 'fields'] },
);
const plainBatch = fc.array(plainEvent, { minLength: 1, maxLength: 5 }).map((events) => JSON.stringify({ events }));

it('finds the list of what clients write, and how many events it has', () => {
  fc.assert(
    fc.property(plainBatch, (body) => {
      const { events } = JSON.parse(body) as { events: unknown[] };
      expect(plainBatchIn(Buffer.from(body))).toEqual({ list: JSON.stringify(events), count: events.length });
    }),
  );
});

it('takes the blanks that other writers put behind commas and colons, and a line end behind all', () => {
  const list = '[{"event_type": "A", "fields": {"a": 1, "b": "x"}, "timestamp": 5}, {"event_type": "B", "fields": {}}]';
  expect(plainBatchIn(Buffer.from(`{"events": ${list}}\n`))).toEqual({ list, count: 2 });
});

it('gives nothing that is not JSON, or that has an event without its shape, whatever is changed in a body', () => {
  const change = fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 3 }),
    by: fc.oneof(fc.uint8Array({ maxLength: 3 }), fc.constantFrom(...pieces)),
  });
  let taken = 0;
  fc.assert(
    fc.property(plainBatch, fc.array(change, { minLength: 1, maxLength: 2 }), (body, changes) => {
      let bytes = Buffer.from(body);
      for (const { at, length, by } of changes) {
        const start = at % bytes.length;
        bytes = Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(start + length)]);
      }
      const found = plainBatchIn(bytes);
      if (found === undefined) return;
      taken++;
      const read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as { events: unknown[] };
      expect(batches.Check(read)).toBe(true);
      expect([JSON.parse(found.list), found.count]).toEqual([read.events, read.events.length]);
    }),
    { numRuns: 3_000 },
  );
  expect(taken).toBeGreaterThan(100);
});

const pieces = ['"', '\\', ',', '}', ']', '{', '[', ':', '0', '-', '1e5', '.', ' ', '\n', 'null', '"id":"x",', '"events":[],'].map(
  (piece) => Buffer.from(piece),
);
const event = '{"event_type":"A","fields":{}}';

it.each([
  ['no events', '{"events":[]}'],
  ['another member', `{"events":[${event}],"pipeline":"p"}`],
  ['another member of an event', '{"events":[{"event_type":"A","fields":{},"x":1}]}'],
  ['no type', '{"events":[{"fields":{}}]}'],
  ['an empty type', '{"events":[{"event_type":"","fields":{}}]}'],
  ['no fields', '{"events":[{"event_type":"A"}]}'],
  ['a list as fields', '{"events":[{"event_type":"A","fields":[]}]}'],
  ['a comma at the end', `{"events":[${event},]}`],
  ['a comma and a blank at the end', `{"events":[${event}, ]}`],
  ['something behind it', `{"events":[${event}]}{}`],
  ['a number that begins with 0', '{"events":[{"event_type":"A","fields":{"a":01}}]}'],
  ['a time that no program can hold', '{"events":[{"event_type":"A","fields":{},"timestamp":1e999}]}'],
  ['a control character in a string', '{"events":[{"event_type":"A\u0001","fields":{}}]}'],
  ['an escape that is none', '{"events":[{"event_type":"\\x41","fields":{}}]}'],
  ['nothing', ''],
])('leaves to be read what has %s', (_what, body) => {
  expect(plainBatchIn(Buffer.from(body))).toBeUndefined();
});

it('leaves to be read what is no UTF-8', () => {
  const body = Buffer.from('{"events":[{"event_type":"A?","fields":{}}]}');
  body[body.indexOf('?')] = 0xff;
  expect(plainBatchIn(body)).toBeUndefined();
});

it('takes a time that grows with the text and no faster', () => {
  const backslashes = '\\\\'.repeat(100_000);
  const bodies = [`{"events":[{"event_type":"${backslashes}`, `{"events":[{"event_type":"A","fields":{${'"a":1,'.repeat(100_000)}`];
  for (const body of bodies) {
    const began = process.cpuUsage();
    expect(plainBatchIn(Buffer.from(body))).toBeUndefined();
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(500);
  }
});

it('finds the event of a body that is one, and nothing in a body that has more, or another shape', () => {
  const event = '{"event_type": "A", "fields": {"a": 1, "b": "ä"}, "timestamp": 5}';
  expect(plainEventIn(Buffer.from(event))).toBe(event);
  fc.assert(
    fc.property(plainEvent, (one) => {
      expect(plainEventIn(Buffer.from(JSON.stringify(one)))).toBe(JSON.stringify(one));
    }),
  );
  const others = [`${event},${event}`, `[${event}]`, event.replace('{', '{"pipeline": "p", '), event.replace('5', '-5'), event.slice(1)];
  expect(others.map((other) => plainEventIn(Buffer.from(other)))).toEqual(others.map(() => undefined));
  expect(plainEventIn(Buffer.from(event, 'latin1'))).toBeUndefined();
});
