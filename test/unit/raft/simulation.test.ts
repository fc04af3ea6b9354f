import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { killerOf } from '../../../chaos/sim/kill.ts';
import { mutants } from '../../../chaos/sim/mutants.ts';
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

  it.each(mutants)('has a mutant whose text stands in the code once: $name', ({ changes }) => {
    for (const { file, find } of changes) {
      const text = readFileSync(new URL(`../../../coordinator/raft/${file}`, import.meta.url), 'utf8');
      expect(text.split(find)).toHaveLength(2);
    }
  });

  it.each([
    'two votes in a term',
    'quorum one too small',
    'acknowledgement before sync',
    'sessions not in snapshots',
    'repeated commands done again',
  ])(
    'kills the mutant by some seed: %s',
    async (name) => {
      const mutant = mutants.find((found) => found.name === name);
      if (mutant === undefined) throw new Error(`no mutant is called ${name}`);
      expect(await killerOf(mutant, new Map(), { first: 1, count: 100, steps: 4_000 })).toMatch(/^seed /);
    },
    120_000,
  );
});
