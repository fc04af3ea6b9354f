import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventsOf, programOf, scenarios } from '../../../bench/scenarios.ts';
import { WorkFolder } from '../work-folder.ts';
import { simulate } from './divided-simulation.ts';

const folder = new WorkFolder();
const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url));
const names = readdirSync(examples).filter((name) => existsSync(`${examples}${name}/events.evt`));
/** A thousand rules and more are checked at length, and divided by lines. */
const small = scenarios.filter(({ name }) => name < '09' || name.startsWith('10'));

async function shownBy(program: string, eventsPath: string): Promise<void> {
  const run = { programPaths: [program], eventsPath, isJson: true, strict: false, pieceBytes: 3_000 };
  const { workersUsed: _, ...one } = await simulate({ ...run, workers: 1 });
  for (const workers of [2, 3, 4]) expect(await simulate({ ...run, workers })).toMatchObject(one);
}

describe('several threads show what one shows', () => {
  it.each(names)('of the example %s', async (name) => {
    await shownBy(`${examples}${name}/rules.vpl`, `${examples}${name}/events.evt`);
  });

  it.each(small.map((scenario) => [scenario.name, scenario] as const))('of the scenario %s', async (_, scenario) => {
    const count = eventsOf(scenario, 3_000);
    const text = Array.from({ length: count }, (__, i) => `@${i} ${scenario.line(i, count)}\n`).join('');
    await shownBy(programOf(scenario), folder.write('events.evt', text));
  });
});
