import { expect, test } from 'vitest';
import { WaitingRow } from '../../../../worker/engine/joins/waiting-row.ts';
import { WaitingRows } from '../../../../worker/engine/joins/waiting-rows.ts';

/** One row for each ms, which waits for 5 s, each at the key that is given for it. */
function filled(keyAt: (at: number) => string, rows: number): WaitingRows {
  let now = 0;
  const waiting = new WaitingRows({
    sides: 2,
    newest: Infinity,
    withinMs: 5_000,
    keepsMs: 5_000,
    keyAs: 'string',
    limit: 10_000,
    watermark: () => now,
    dropped: () => expect.unreachable('the budget is not used up'),
    ended: null,
  });
  for (; now < rows; now++) {
    const row = { type: 'E', time: now, order: now, fields: new Map(), bound: null, attributes: null, causes: [now] };
    waiting.add(waiting.keys.at(keyAt(now)), 0, new WaitingRow(row));
  }
  return waiting;
}

test('keys that never come again are forgotten', () => {
  expect(filled((at) => `key-${at}`, 100_000).keys.size).toBeLessThan(40_000);
});

test('keys that come again are kept, and no rows that are over', () => {
  const waiting = filled((at) => `key-${at % 8_000}`, 30_000);
  expect(waiting.keys.size).toBe(8_000);
  waiting.tidy();
  const times = [...waiting.keys.all()].flatMap(({ lefts }) => lefts.all.map(({ time }) => time));
  expect(times.sort((a, b) => a - b)).toEqual(Array.from({ length: 5_000 }, (_, at) => 25_000 + at));
  expect(waiting.all().map(({ waiting: { order } }) => order)).toEqual(times);
});
