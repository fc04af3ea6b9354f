import { describe, expect, it } from 'vitest';
import { GroupTime } from '../../../../coordinator/cluster/group-time.ts';

function world() {
  const at = { nowMs: 0, wallMs: 1_000_000 };
  const replica = { state: { nowMs: 0 } };
  const time = new GroupTime({ replica, clock: () => at.wallMs, now: () => at.nowMs });
  const pass = (ms: number): void => {
    at.nowMs += ms;
    at.wallMs += ms;
  };
  return { at, replica, time, pass };
}

describe('the time of what a leader proposes', () => {
  it('is that of the clock', () => {
    const { time, pass } = world();
    expect(time.next()).toBe(1_000_000);
    pass(250.5);
    expect(time.next()).toBe(1_000_250);
  });

  it('goes on at half its speed while the clock is behind, until that has caught up', () => {
    const { at, time, pass } = world();
    time.next();
    at.wallMs += 60_000;
    expect(time.next()).toBe(1_060_000);
    at.wallMs -= 60_000;
    pass(20_000);
    expect(time.next()).toBe(1_070_000);
    pass(100_000);
    expect(time.next()).toBe(1_120_000);
    pass(10_000);
    expect(time.next()).toBe(1_130_000);
  });

  it('goes on from what a leader before has said, whose clock was ahead by a year', () => {
    const { replica, time, pass } = world();
    const aheadMs = 366 * 24 * 3_600_000;
    replica.state = { nowMs: 1_000_000 + aheadMs };
    expect(time.next()).toBe(1_000_000 + aheadMs);
    pass(600_000);
    expect(time.next()).toBe(1_300_000 + aheadMs);
  });
});
