import { describe, expect, it } from 'vitest';
import { ClusterClock } from '../../../coordinator/liveness/cluster-clock.ts';

const hourMs = 3_600_000;
const workers = ['a', 'b', 'c'].map((id) => ({ id, incarnation: 'i1' }));
const [a, b, c] = workers as [(typeof workers)[0], (typeof workers)[0], (typeof workers)[0]];

/** A leader at monotonic 1,000 and epoch 50,000 ms, whose clock may be set. */
function world(): {
  clock: ClusterClock;
  shift: (ms: number) => void;
  hear: (worker: typeof a, aheadMs: number) => void;
  to: (ms: number) => void;
} {
  let nowMs = 1_000;
  let shiftMs = 0;
  const clock = new ClusterClock({ now: () => nowMs, clock: () => 49_000 + nowMs + shiftMs });
  return {
    clock,
    shift: (ms) => {
      shiftMs = ms;
    },
    hear: (worker, aheadMs) => clock.heard(worker, 49_000 + nowMs + aheadMs, nowMs),
    to: (ms) => {
      nowMs = ms;
    },
  };
}

describe('the time of a cluster', () => {
  it('is not known before half of the workers were heard', () => {
    const { clock, hear } = world();
    hear(a, 0);
    expect(clock.time(() => workers)).toBeUndefined();
    hear(b, 0);
    expect(clock.time(() => workers)).toBe(50_000);
  });

  it('is not moved by a worker whose clock is wrong, which is told by how much', () => {
    const { clock, hear } = world();
    hear(a, hourMs);
    hear(b, 3);
    hear(c, -2);
    expect(clock.time(() => workers)).toBe(50_000);
    expect([...clock.aheadMs(workers)]).toEqual([
      ['a', hourMs],
      ['b', 3],
      ['c', -2],
    ]);
  });

  it('is not moved when the clock of the leader is set', () => {
    const { clock, hear, shift, to } = world();
    for (const one of workers) hear(one, 0);
    shift(hourMs);
    to(3_000);
    expect(clock.time(() => workers)).toBe(52_000);
    expect(clock.aheadMs(workers).get('a')).toBe(0);
  });

  it('is that of the leader where there is one worker', () => {
    const { clock, hear } = world();
    hear(a, -hourMs);
    expect(clock.time(() => [a])).toBe(50_000);
  });

  it('goes by the heartbeats that were least delayed, and believes a clock that was set back after a few', () => {
    const { clock, hear } = world();
    for (const one of [b, c]) hear(one, 0);
    for (const delayMs of [400, 20, 900]) hear(a, -delayMs);
    expect(clock.aheadMs(workers).get('a')).toBe(-20);
    for (let beat = 0; beat < 4; beat++) hear(a, -hourMs);
    expect(clock.aheadMs(workers).get('a')).toBe(-hourMs);
  });

  it('forgets processes that are gone', () => {
    const { clock, hear } = world();
    hear(a, 0);
    clock.forgetOthers([]);
    expect(clock.aheadMs(workers).size).toBe(0);
  });
});
