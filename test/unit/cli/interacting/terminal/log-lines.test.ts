import { expect, it } from 'vitest';
import { LogLines } from '../../../../../cli/interacting/terminal/log-lines.ts';

function logOf(count: number, entriesMax: number): LogLines<number> {
  const log = new LogLines<number>(entriesMax);
  for (let at = 0; at < count; at++) log.add(at);
  return log;
}

it('follows the newest, and stays where somebody looks while more comes in', () => {
  const log = logOf(10, 100);
  expect(log.shown(3)).toEqual([7, 8, 9]);
  log.scroll(-2, 3);
  log.add(10);
  expect([log.shown(3), log.below]).toEqual([[5, 6, 7], 3]);
  log.scroll(3, 3);
  log.add(11);
  expect([log.shown(3), log.below]).toEqual([[9, 10, 11], 0]);
});

it('stops at the oldest that it still has', () => {
  const log = logOf(25, 10);
  log.scroll(-1_000, 3);
  const [first = 0, ...rest] = log.shown(3);
  expect(rest).toEqual([first + 1, first + 2]);
  expect(log.shown(1_000)[0]).toBe(first);
  expect(first).toBeLessThanOrEqual(15);
});

it('shows all there is while that is less than fits', () => {
  const log = logOf(2, 10);
  log.scroll(-5, 4);
  expect(log.shown(4)).toEqual([0, 1]);
});
