import { expect, it } from 'vitest';
import { limits } from '../../../shared/limits.ts';
import { RecordOutcome } from '../../../worker/runtime/threads/record-outcome.ts';

const outcome = (outputsMax: number | null = 100_000): RecordOutcome =>
  new RecordOutcome({ slot: 0, sequence: 1, length: 10, outputsMax, streams: new Map([['S', 0]]) });
const output = (time: number, text = '') => ({ stream: 'S', type: 'S', time, fields: new Map([['text', text]]) });

it('keeps the newest outputs of a request, as many as somebody reads', () => {
  const made = outcome(10);
  for (let n = 1; n <= 100; n++) made.output(output(n));
  const { outputs } = made.result();
  expect([outputs.skipped, outputs.time[0], outputs.time.length]).toEqual([90, 91, 10]);
});

it('counts the outputs that it does not keep, by stream and type', () => {
  const made = outcome(1);
  for (const type of ['a', 'a', 'b', 'a', 'c']) made.output({ ...output(1), type });
  expect(made.result().outputs.skippedBy).toEqual([
    { stream: 0, type: 'a', count: 3 },
    { stream: 0, type: 'b', count: 1 },
  ]);
});

it('keeps no more text of the outputs of a request than it may', () => {
  const made = outcome();
  const quarter = 'x'.repeat(limits.requestOutputCharsMax / 4 - 100);
  for (let n = 1; n <= 9; n++) made.output(output(n, quarter), { kind: 'events', events: [], count: 0 });
  const { outputs } = made.result();
  expect(outputs.skipped).toBe(5);
  expect(outputs.time).toEqual([6, 7, 8, 9]);
  expect([outputs.fields.length, outputs.causes?.length, outputs.ordinal]).toEqual([4, 4, [5, 6, 7, 8]]);
});

it('tells of as many invalid events as it may and counts the others; of those that were given up it tells always', () => {
  const made = new RecordOutcome({ slot: 0, sequence: 1, length: 10, outputsMax: null, streams: new Map(), problemsMax: 2 });
  const problem = (index: number, code: 'invalid_event' | 'budget_exceeded') => ({ index, code, field: '', message: 'none' });
  for (let index = 0; index < 5; index++) made.problem(problem(index, index === 3 ? 'budget_exceeded' : 'invalid_event'));
  const { problems, problemsOmitted } = made.result();
  expect([problems.map(({ index }) => index), problemsOmitted]).toEqual([[0, 1, 3], 2]);
});

it('keeps every output of a request where somebody takes each, however many and long they are', () => {
  const made = outcome(null);
  const third = 'x'.repeat(limits.requestOutputCharsMax / 3);
  for (let n = 1; n <= 5; n++) made.output(output(n, third));
  for (let n = 6; n <= 250_000; n++) made.output(output(n));
  const { outputs } = made.result();
  expect([outputs.skipped, outputs.time.length, outputs.fields[0]?.length]).toEqual([0, 250_000, third.length + 11]);
});

it('keeps no more text of what a program says than it may, and counts the rest', () => {
  const made = outcome();
  const half = 'x'.repeat(limits.programLogCharsMax / 2 - 10);
  for (let n = 1; n <= 5; n++) made.log({ stream: 'S', level: 'info', kind: 'print', message: half, data: null });
  const { log } = made.result();
  expect(log.map(({ message }) => message.slice(0, 40))).toEqual([
    'x'.repeat(40),
    'x'.repeat(40),
    '3 more lines of these events are left out'.slice(0, 40),
  ]);
});
