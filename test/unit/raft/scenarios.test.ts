import { describe, expect, it } from 'vitest';
import { killerOf } from '../../../chaos/sim/kill.ts';
import { mutants } from '../../../chaos/sim/mutants.ts';
import { runScenario } from '../../../chaos/sim/scenario.ts';
import { readScenarios } from '../../../chaos/sim/scenarios.ts';

const scenarios = readScenarios();

describe('Raft in situations described exactly', () => {
  // `npm run sim -- --write-scenarios` records them anew; read what changes.
  it.each([...scenarios])('goes as recorded: %s', (_, text) => {
    expect(runScenario(text)).toBe(text);
  });

  it('says which commands there are when it does not know one', () => {
    expect(() => runScenario('> fly 1')).toThrow(/no command is called 'fly'; there are nodes, tick/);
  });

  it.each([
    'entries of older terms committed by count',
    'completion without term',
    'answers to an old term believed',
    'vote not written',
    'logs compared by length before term',
    'own entries counted before sync',
    'joint commit by the new majority only',
    'recovering node votes',
  ])(
    'kills the mutant: %s',
    async (name) => {
      const mutant = mutants.find((found) => found.name === name);
      if (mutant === undefined) throw new Error(`no mutant is called ${name}`);
      expect(await killerOf(mutant, scenarios, { first: 1, count: 0, steps: 0 })).toMatch(/^scenario /);
    },
    60_000,
  );
});
