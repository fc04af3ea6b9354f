import { describe, expect, it } from 'vitest';
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
});
