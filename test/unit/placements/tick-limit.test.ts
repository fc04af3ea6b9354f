import { beforeEach, expect, it } from 'vitest';
import { TickLimit } from '../../../worker/placements/tick-limit.ts';
import { Receipts } from '../../../worker/runtime/placed/receipts.ts';

const source = '_external';
let nowMs: number;
let receipts: Receipts;
let limit: TickLimit;
/** As ticks are asked for: two seconds behind. */
const tick = (): number | undefined => limit.timeOf(nowMs - 2_000);
const accept = (sequence: number, receivedAt: number): void => void receipts.accept(source, { sequence, receivedAt, ids: [] });

beforeEach(() => {
  nowMs = 100_000;
  receipts = new Receipts();
  limit = new TickLimit({ receipts, repeatedUpTo: 0, now: () => nowMs, clusterTime: () => nowMs });
});

it('lets all ticks pass when nobody says how far the log goes, and when all of it is here', () => {
  expect(tick()).toBe(98_000);
  accept(1, 99_000);
  const answered = limit.begin(1);
  answered();
  for (const later of [0, 100, 400, 600, 60_000]) {
    nowMs += later;
    expect(tick()).toBe(nowMs - 2_000);
  }
});

it('holds ticks at the last batch that is here while the log goes on behind it, and lets time go on with each', () => {
  limit.begin(3)();
  expect(tick()).toBeUndefined();
  accept(1, 90_000);
  nowMs += 10_000;
  expect(tick()).toBe(90_000);
  accept(2, 91_000);
  nowMs += 20_000;
  expect(tick()).toBe(91_000);
  accept(3, 91_500);
  expect(tick()).toBe(128_000);
});

it('gives no tick an earlier time than one before', () => {
  accept(1, 90_000);
  expect(tick()).toBe(98_000);
  limit.begin(2)();
  expect(tick()).toBe(98_000);
});

it('lets ticks go on when nothing of the log has come for half a minute, and what comes then arrives with the last of them', () => {
  accept(1, 90_000);
  limit.begin(2)();
  nowMs += 29_999;
  expect(tick()).toBe(90_000);
  nowMs += 1;
  expect(tick()).toBe(128_000);
  expect(limit.arrivalOf({ sequence: 2, receivedAt: 91_000 })).toEqual({ time: 128_000, isMoved: true });
  expect(limit.arrivalOf({ sequence: 2, receivedAt: 128_000 })).toEqual({ time: 128_000, isMoved: false });
});

it('leaves what an earlier worker may have taken in the time that it had there', () => {
  limit = new TickLimit({ receipts, repeatedUpTo: 2, now: () => nowMs, clusterTime: () => nowMs });
  expect(tick()).toBe(98_000);
  expect(limit.arrivalOf({ sequence: 2, receivedAt: 91_000 })).toEqual({ time: 91_000, isMoved: true });
  expect(limit.arrivalOf({ sequence: 3, receivedAt: 91_000 })).toEqual({ time: 98_000, isMoved: true });
});

it('waits for what nobody could say was there, when a delivery was under way for long', () => {
  accept(1, 99_900);
  const answered = limit.begin(1);
  nowMs += 5_000;
  expect(tick()).toBe(99_000);
  answered();
  nowMs += 499;
  expect(tick()).toBe(99_000);
  nowMs += 1;
  expect(tick()).toBe(103_500);
});

it('gives ticks, and what arrives with them, whole milliseconds, whatever the clock counts in', () => {
  nowMs = 100_000.75;
  expect(tick()).toBe(98_000);
  expect(limit.arrivalOf({ sequence: 1, receivedAt: 91_000 }).time).toBe(98_000);
  limit.begin(0);
  nowMs += 5_000;
  expect(tick()).toBe(99_000);
});
