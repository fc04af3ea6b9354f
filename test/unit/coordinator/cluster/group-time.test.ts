import { describe, expect, it } from 'vitest';
import { GroupTime } from '../../../../coordinator/cluster/group-time.ts';

function world() {
  const at = { nowMs: 0, wallMs: 1_000_000, isKnown: true };
  let changed = (): void => undefined;
  const replica = {
    state: { nowMs: 0 },
    onChange: (listener: () => void): void => {
      changed = listener;
    },
  };
  const clusterTime = (): number | undefined => (at.isKnown ? at.wallMs : undefined);
  const time = new GroupTime({ replica, clusterTime, clock: () => at.wallMs, now: () => at.nowMs });
  /** A command is applied that another member proposed. */
  const apply = (nowMs: number): void => {
    replica.state = { nowMs };
    changed();
  };
  const pass = (ms: number): void => {
    at.nowMs += ms;
    at.wallMs += ms;
  };
  return { at, replica, time, pass, apply };
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

  it('goes on from what the log said while too few clocks are known, whatever the own one shows', () => {
    const { at, time, pass, apply } = world();
    at.isKnown = false;
    at.wallMs += 3_600_000;
    apply(1_000_000);
    pass(60_000);
    expect(time.next()).toBe(1_060_000);
    pass(1_000);
    expect(time.next()).toBe(1_061_000);
  });

  it('is that of the own clock where no log says any', () => {
    const { at, time } = world();
    at.isKnown = false;
    expect(time.next()).toBe(1_000_000);
  });
});

describe('the present, as a member tells it', () => {
  it('is not behind the log where the own clock is, while too few others are known', () => {
    const { at, time, pass, apply } = world();
    at.isKnown = false;
    apply(1_000_000);
    at.wallMs -= 3_600_000;
    pass(2_000);
    expect(time.present()).toBe(1_002_000);
    at.wallMs += 3_700_000;
    expect(time.present()).toBe(1_102_000);
    at.isKnown = true;
    at.wallMs -= 100_000;
    expect(time.present()).toBe(1_002_000);
  });
});
