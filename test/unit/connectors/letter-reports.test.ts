import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LetterReports } from '../../../worker/connectors/delivery/letter-reports.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function reports() {
  const told: (readonly [error: unknown, events: unknown])[] = [];
  const made = new LetterReports({ pipelineId: 'p', report: ({ fields }) => told.push([fields['error'], fields['events']]) });
  return { told, count: (error: string) => made.count({ connector: 'Broker', code: 'invalid_event', error }), close: () => made.close() };
}

it('tells each reason, however often there was another before', () => {
  const { told, count, close } = reports();
  for (let n = 0; n < 100; n++) count('no UTF-8');
  count('no value');
  expect(told.splice(0)).toEqual([
    ['no UTF-8', 1],
    ['no value', 1],
  ]);
  close();
  expect(told).toEqual([['no UTF-8', 99]]);
});

it('counts reasons that are all different together, and tells the last of them', () => {
  const { told, count, close } = reports();
  for (let n = 0; n < 1_000; n++) count(`the value ${n} does not fit`);
  expect(told.splice(0)).toHaveLength(17);
  vi.advanceTimersByTime(10_000);
  expect(told.splice(0)).toEqual([['the value 999 does not fit', 983]]);
  close();
  expect(told).toEqual([]);
});
