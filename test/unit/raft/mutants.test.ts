import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { killerOf } from '../../../chaos/sim/kill.ts';
import { mutants } from '../../../chaos/sim/mutants.ts';
import { readScenarios } from '../../../chaos/sim/scenarios.ts';

/** No scenario finds these, and the first seed that does is far: `npm run sim -- --mutants --seeds 800` says which, after a change of the model. */
const seedOf = new Map([
  ['entries removed before the pointer to the snapshot is written', 260],
  ['repair writes the witness first without a loss', 29],
  ['repair writes the database first', 91],
  ['witness beside a batch that it does not hold', 762],
]);
/** Without a scenario, so that it is the laws that find them. */
const bySeedAlone = ['two votes in a term', 'quorum one too small', 'acknowledgement before sync', 'vote without comparing logs'];

describe('the mistakes planted in Raft', () => {
  it.each(mutants)('stand in the code where they are planted, once: $name', ({ changes }) => {
    for (const { file, find } of changes) {
      const text = readFileSync(new URL(`../../../coordinator/raft/${file}`, import.meta.url), 'utf8');
      expect(text.split(find)).toHaveLength(2);
    }
  });

  it.each(mutants)(
    'are found by a scenario or a seed: $name',
    async (mutant) => {
      const seeds = { first: seedOf.get(mutant.name) ?? 1, count: seedOf.has(mutant.name) ? 1 : 40, steps: 2_000 };
      expect(await killerOf(mutant, readScenarios(), seeds)).toMatch(/^(scenario|seed) /);
    },
    60_000,
  );

  it.each(mutants.filter(({ name }) => bySeedAlone.includes(name)))(
    'are found by a seed alone: $name',
    async (mutant) => {
      expect(await killerOf(mutant, new Map(), { first: 1, count: 60, steps: 4_000 })).toMatch(/^seed /);
    },
    60_000,
  );
});
