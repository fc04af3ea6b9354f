import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutants, simulatorOf } from '../../../chaos/sim/mutants.ts';
import { simulate } from '../../../chaos/sim/simulation.ts';

describe('the simulator of Raft', () => {
  it('breaks no law and agrees in the end, whatever faults a seed draws', () => {
    let committed = 0;
    let elections = 0;
    for (let seed = 1; seed <= 150; seed++) {
      const result = simulate({ seed, steps: 4_000 });
      committed += result.committed;
      elections += result.elections;
    }
    // Otherwise nothing has been shown.
    expect(committed).toBeGreaterThan(10_000);
    expect(elections).toBeGreaterThan(300);
  }, 60_000);

  it('runs a seed the same way each time', () => {
    expect(simulate({ seed: 7, steps: 3_000 })).toEqual(simulate({ seed: 7, steps: 3_000 }));
  });

  it.each(mutants)('has a mutant whose text stands in the core once: $name', ({ file, find }) => {
    const text = readFileSync(new URL(`../../../coordinator/raft/core/${file}`, import.meta.url), 'utf8');
    expect(text.split(find)).toHaveLength(2);
  });

  it.each(['two votes in a term', 'acknowledgement before sync', 'quorum one too small', 'vote without comparing logs'])(
    'kills the mutant: %s',
    async (name) => {
      const mutant = mutants.find((found) => found.name === name);
      if (mutant === undefined) throw new Error(`no mutant is called ${name}`);
      const run = await simulatorOf(mutant);
      expect(() => {
        for (let seed = 1; seed <= 50; seed++) run({ seed, steps: 4_000 });
      }).toThrow();
    },
    60_000,
  );
});
