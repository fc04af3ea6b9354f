import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { killerOf } from '../../../chaos/sim/kill.ts';
import { mutants } from '../../../chaos/sim/mutants.ts';
import { readScenarios } from '../../../chaos/sim/scenarios.ts';

/** It takes some hundred seeds to find them; `npm run sim -- --mutants --seeds 400` does. */
const rare = new Set([
  'gaps in the log ignored',
  'repair writes the database first',
  'repair writes the witness first without a loss',
  'snapshot of an old leader waited for',
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

  it.each(mutants.filter(({ name }) => !rare.has(name)))(
    'are found by a scenario or soon by a seed: $name',
    async (mutant) => {
      expect(await killerOf(mutant, readScenarios(), { first: 1, count: 40, steps: 4_000 })).toMatch(/^(scenario|seed) /);
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
