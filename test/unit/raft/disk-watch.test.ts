import { describe, expect, it } from 'vitest';
import { DiskWatch } from '../../../coordinator/raft/driver/disk-watch.ts';

const electionMs = 1_000;

/** Writes that were durable here so much later than with the others, one a second; gives after which of them another should lead. */
function handsOver(lagsMs: readonly number[], watch = new DiskWatch(electionMs), beginMs = 0): number[] {
  return lagsMs.flatMap((lagMs, at) => {
    const committedMs = beginMs + at * 1_000;
    const seen = [
      watch.observe(false, committedMs - 1),
      watch.observe(true, committedMs),
      watch.observe(true, committedMs + lagMs / 2),
      watch.observe(false, committedMs + lagMs),
    ];
    return seen.some((found) => found !== undefined) ? [at] : [];
  });
}

describe('the watch over the disk of a leader', () => {
  it('says nothing of a disk that is as fast as the others, or slow once', () => {
    expect(handsOver([0, 5, 199, 500, 0, 500, 500, 5, 500])).toEqual([]);
  });

  it('says that another should lead after three writes in a row that were durable with the others much earlier', () => {
    expect(handsOver([0, 500, 500, 500])).toEqual([3]);
    expect(handsOver([200, 200, 200])).toEqual([2]);
  });

  it('says so at once of a write that does not end', () => {
    const watch = new DiskWatch(electionMs);
    expect(watch.observe(true, 0)).toBeUndefined();
    expect(watch.observe(true, 999)).toBeUndefined();
    expect(watch.observe(true, 1_000)).toBe(1_000);
  });

  it('does not count the time for which the process stood still', () => {
    const watch = new DiskWatch(electionMs);
    expect(watch.observe(true, 0)).toBeUndefined();
    watch.stalled(30_000);
    expect(watch.observe(true, 30_999)).toBeUndefined();
    expect(watch.observe(true, 31_000)).toBe(1_000);
  });

  it('waits longer where elections do', () => {
    expect(handsOver([500, 500, 500], new DiskWatch(5_000))).toEqual([]);
    expect(new DiskWatch(5_000).observe(true, 0)).toBeUndefined();
  });

  it('says it once a minute, and forgets what was slow before it led again', () => {
    const watch = new DiskWatch(electionMs);
    const slow = Array.from({ length: 70 }, () => 500);
    expect(handsOver(slow, watch)).toEqual([2, 62]);
    watch.reset();
    expect(handsOver([500, 500], watch, 200_000)).toEqual([]);
    watch.reset();
    expect(handsOver([500, 500], watch, 300_000)).toEqual([]);
  });
});
