import { expect, it } from 'vitest';
import { readSample } from '../../../cli/console/editor/sample.ts';

const now = 1_000_000;

it('places offsets so that the last event happens now', () => {
  expect(
    readSample('@0s Reading { sensor: "a: b", value: 20.5 }\n# later\n@5s Reading { value: -3, ok: true, none: null }\n', now),
  ).toEqual([
    { event_type: 'Reading', fields: { sensor: 'a: b', value: 20.5 }, timestamp: now - 5_000 },
    { event_type: 'Reading', fields: { value: -3, ok: true, none: null }, timestamp: now },
  ]);
});

it('reads JSON in each of its forms, and times as they are said', () => {
  const lines = [
    '{"event_type": "A", "fields": {"x": 1}, "timestamp": 5}',
    '{"type": "A", "data": {"x": 2}, "timestamp": "1970-01-01T00:00:01Z"}',
    '{"event_type": "A", "x": 3}',
  ];
  expect(readSample(lines.join('\n'), now)).toEqual([
    { event_type: 'A', fields: { x: 1 }, timestamp: 5 },
    { event_type: 'A', fields: { x: 2 }, timestamp: 1_000 },
    { event_type: 'A', fields: { x: 3 }, timestamp: now },
  ]);
});

it.each([
  ['Reading', 'line 1: expected `Type { field: value }`'],
  ['\nReading { value: abc }', 'line 2: the fields of Reading cannot be read'],
  ['{"x": 1}', 'line 1: expected an "event_type"'],
])('names the line of %j that cannot be read', (text, message) => {
  expect(() => readSample(text, now)).toThrow(message);
});
