import { type Mutant, simulatorOf } from './mutants.ts';
import type { SimulationOptions } from './simulation.ts';

export interface SearchedSeeds {
  readonly first: number;
  readonly count: number;
  readonly steps: number;
}

/** What kills a mutant first, scenarios before seeds and broken laws before other output, as `scenario <name>: <law>` or `seed <seed>: <law>`; undefined when it lives. */
export async function killerOf(mutant: Mutant, scenarios: ReadonlyMap<string, string>, seeds: SearchedSeeds): Promise<string | undefined> {
  const { runScenario, simulate } = await simulatorOf(mutant);
  let differing: string | undefined;
  for (const [name, text] of scenarios) {
    const found = failure(() => {
      if (runScenario(text) !== text) differing ??= `scenario ${name}: it prints something else`;
    });
    if (found) return `scenario ${name}: ${found.message}`;
  }
  if (differing !== undefined) return differing;
  for (let seed = seeds.first; seed < seeds.first + seeds.count; seed++) {
    const found = failureOf({ seed, steps: seeds.steps }, simulate);
    if (found) return `seed ${seed}: ${found.message}`;
  }
  return undefined;
}

export function failureOf(options: SimulationOptions, run: (options: SimulationOptions) => unknown): Error | undefined {
  return failure(() => run(options));
}

function failure(run: () => unknown): Error | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
