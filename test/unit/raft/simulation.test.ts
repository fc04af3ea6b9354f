import { describe, expect, it } from 'vitest';
import { shrink } from '../../../chaos/sim/shrink.ts';
import { type SimulationOptions, type SimulationResult, simulate } from '../../../chaos/sim/simulation.ts';

describe('the simulator of Raft', () => {
  it('breaks no law and agrees in the end, whatever faults a seed draws', () => {
    const sum = { committed: 0, elections: 0, operations: 0, recoveries: 0 };
    for (let seed = 1; seed <= 60; seed++) {
      const result = simulate({ seed, steps: 4_000 });
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += result[name];
    }
    // Otherwise nothing has been shown.
    expect(sum.committed).toBeGreaterThan(2_000);
    expect(sum.elections).toBeGreaterThan(150);
    expect(sum.operations).toBeGreaterThan(2_000);
    expect(sum.recoveries).toBeGreaterThan(20);
  }, 120_000);

  it('runs a seed the same way each time', () => {
    expect(simulate({ seed: 7, steps: 3_000 })).toEqual(simulate({ seed: 7, steps: 3_000 }));
  });

  it('finds a smaller run that breaks a law too', () => {
    const run = ({ steps, without = [] }: SimulationOptions): SimulationResult => {
      if (steps >= 300 && !without.includes('crash') && !without.includes('loss')) throw new Error('it breaks');
      return { steps, committed: 0, elections: 0, operations: 0, recoveries: 0, refusals: 0 };
    };
    const { seed, steps, without } = shrink({ seed: 3, steps: 4_000 }, run);
    expect(seed).toBe(3);
    expect(steps).toBeGreaterThanOrEqual(300);
    expect(steps).toBeLessThan(330);
    expect(without).toContain('partition');
    expect(without).not.toContain('crash');
    expect(without).not.toContain('loss');
  });
});
