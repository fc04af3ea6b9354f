import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readSample } from '../../../cli/console/editor/sample.ts';

const now = Date.parse('2026-01-31T10:00:00Z');
const ago = (ms: number): string => new Date(now - ms).toISOString().replace('.000Z', 'Z');
const read = (text: string): unknown[] => readSample(text, now).map((event) => JSON.parse(event));

it('places offsets so that the last event happens now', () => {
  expect(read('@0s Reading { sensor: "a: b", value: 20.5 }\n# later\n@5s Reading { value: -3, ok: true, none: null }\n')).toEqual([
    { event_type: 'Reading', fields: { sensor: 'a: b', value: 20.5 }, timestamp: ago(5_000) },
    { event_type: 'Reading', fields: { value: -3, ok: true, none: null }, timestamp: ago(0) },
  ]);
});

it('reads JSON in each of its forms, and times as they are said', () => {
  const lines = [
    '{"event_type": "A", "fields": {"x": 1}, "timestamp": "2026-01-31T09:00:00Z", "id": "one"}',
    '{"type": "A", "data": {"x": 2}, "timestamp": 1769850000000}',
    '{"event_type": "A", "x": 3}',
    '{"event_type": "A", "fields": {"x": 1}, "x": 4}',
  ];
  expect(read(lines.join('\n'))).toEqual([
    { event_type: 'A', fields: { x: 1 }, timestamp: ago(3_600_000) },
    { event_type: 'A', fields: { x: 2 }, timestamp: ago(3_600_000) },
    { event_type: 'A', fields: { x: 3 }, timestamp: ago(0) },
    { event_type: 'A', fields: { fields: { x: 1 }, x: 4 }, timestamp: ago(0) },
  ]);
});

it('reads what the page of event files shows, but for fields without names', () => {
  const page = readFileSync(new URL('../../../docs/event-files.md', import.meta.url), 'utf8');
  const [evt = '', jsonl = ''] = ['evt', 'jsonl'].map((kind) => new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\``, 'ms').exec(page)?.[1] ?? '');
  expect(() => readSample(evt, now)).toThrow('line 5: the fields need their names here: Login { name: value }');
  const named = evt.replace('Login("cas", 3, ["x"])', 'Login { user: "cas", tries: 3, tags: ["x"] }');
  expect(read(named)).toMatchObject([
    { fields: { user: 'ann', tags: ['a', 'b'] }, timestamp: ago(180_000) },
    { fields: { user: 'bob', note: null } },
    { fields: { user: 'cas', tags: ['x'] }, timestamp: ago(175_000) },
    { fields: { user: 'dot', extra: { deep: true } }, timestamp: ago(175_000) },
    { fields: { user: 'eve' }, timestamp: ago(60_000) },
    { event_type: 'Login', fields: { user: 'fay', tries: 6, tags: [] }, timestamp: ago(0) },
  ]);
  expect(read(jsonl)).toMatchObject([
    { fields: { user: 'ann' }, timestamp: ago(0) },
    { fields: { user: 'bob' } },
    { fields: { user: 'cas' } },
  ]);
});

it.each([
  ['Reading', 'line 1, column 8: expected `{` or `(` behind the event type `Reading`'],
  ['\nReading { value: }', 'line 2, column 18: expected a value'],
  ['{"x": 1}', 'line 1, column 1: expected a member `event_type`'],
  ['{"event_type": "R", "timestamp": "yesterday"}', 'line 1: R.timestamp: expected ISO 8601 text'],
  ['{"event_type": "R", "timestamp": "1000"}', 'line 1: R.timestamp: expected ISO 8601 text'],
  ['R { v: 9007199254740993 }', 'line 1: R.v: whole number 9007199254740993 is beyond 2^53-1'],
  ['R { v: 1e999 }', 'line 1: R.v: the number is too large for a float'],
])('names the line of %j that cannot be taken', (text, message) => {
  expect(() => readSample(text, now)).toThrow(message);
});
