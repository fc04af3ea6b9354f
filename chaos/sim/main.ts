import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type FaultName, faultNames } from './faults.ts';
import { failureOf, killerOf } from './kill.ts';
import { mutants } from './mutants.ts';
import { runScenario } from './scenario.ts';
import { readScenarios, scenarioFolder } from './scenarios.ts';
import { shrink } from './shrink.ts';
import { type SimulationOptions, simulate } from './simulation.ts';

/**
 * `npm run sim -- [--seed N] [--seeds COUNT] [--steps N] [--without FAULT,..]` runs seeds from N on and says how to run again what broke
 * a law, with fewer faults and steps where that breaks one too. `--mutants [--only TEXT]` runs each mutant through the scenarios and then
 * seeds until one kills it, which must happen within COUNT seeds; `--no-scenarios` leaves these to the seeds. `--write-scenarios` records
 * what the scenarios print now; read the difference.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '4000' },
    without: { type: 'string', default: '' },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'no-scenarios': { type: 'boolean', default: false },
    'write-scenarios': { type: 'boolean', default: false },
  },
});
const [first, count, steps] = [values.seed, values.seeds, values.steps].map(Number) as [number, number, number];
const without = values.without.split(',').filter((name) => name !== '') as FaultName[];
const unknown = without.find((name) => !faultNames.includes(name));

if (unknown !== undefined) {
  print(`no fault is called '${unknown}'; there are ${faultNames.join(', ')}`);
  process.exitCode = 1;
} else if (values['write-scenarios']) {
  for (const [name, text] of readScenarios()) writeFileSync(`${scenarioFolder}${name}.txt`, runScenario(text));
} else if (values.mutants) {
  await runMutants();
} else {
  runSeeds();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function commandOf({ seed, steps: count, without: left = [] }: SimulationOptions): string {
  return `npm run sim -- --seed ${seed} --steps ${count}${left.length > 0 ? ` --without ${left.join(',')}` : ''}`;
}

function runSeeds(): void {
  const sum = { committed: 0, elections: 0, operations: 0, recoveries: 0, refusals: 0 };
  for (let seed = first; seed < first + count; seed++) {
    if (seed > first && (seed - first) % 1_000 === 0) print(`seeds ${first} to ${seed - 1}: no law broken`);
    const options = { seed, steps, without };
    const failure = failureOf(options, (run) => {
      const result = simulate(run);
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += result[name];
    });
    if (failure === undefined) continue;
    print(`seed ${seed}: ${failure.stack}\nrun it again: ${commandOf(options)}`);
    print(`with less:    ${commandOf(shrink(options, simulate))}`);
    process.exitCode = 1;
    return;
  }
  const { committed, elections, operations, recoveries, refusals } = sum;
  print(`${count} seeds from ${first} of ${steps} steps: no law broken`);
  print(`${committed} entries committed, ${elections} leaders, ${operations} operations in linearizable histories`);
  print(`${recoveries} starts with acknowledged entries lost, ${refusals} nodes that may not start again`);
}

async function runMutants(): Promise<void> {
  const scenarios = values['no-scenarios'] ? new Map<string, string>() : readScenarios();
  const chosen = mutants.filter(({ name }) => name.includes(values.only));
  let alive = 0;
  for (const mutant of chosen) {
    const killer = await killerOf(mutant, scenarios, { first, count, steps });
    if (killer === undefined) alive++;
    print(killer ? `killed: ${mutant.name}\n        ${killer}` : `ALIVE:  ${mutant.name}`);
  }
  print(`${chosen.length - alive}/${chosen.length} killed by scenarios or within ${count} seeds from ${first} of ${steps} steps`);
  process.exitCode = alive === 0 ? 0 : 1;
}
