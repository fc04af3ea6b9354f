import { faultNames } from './faults.ts';
import type { SimulationOptions, SimulationResult } from './simulation.ts';

/** Of a run, fewer steps and faults that break a law too, not always the same one. Tries at most a hundred runs. */
export function shrink(options: SimulationOptions, run: (options: SimulationOptions) => SimulationResult): SimulationOptions {
  let smallest = options;
  let runsLeft = 100;
  const take = (candidate: SimulationOptions): boolean => {
    if (runsLeft-- <= 0 || !breaks(candidate, run)) return false;
    smallest = candidate;
    return true;
  };
  for (const name of faultNames) take({ ...smallest, without: [...(smallest.without ?? []), name] });
  for (const part of [0.5, 0.75, 0.9, 0.97]) while (take({ ...smallest, steps: Math.floor(smallest.steps * part) }));
  return smallest;
}

function breaks(options: SimulationOptions, run: (options: SimulationOptions) => SimulationResult): boolean {
  try {
    run(options);
    return false;
  } catch {
    return true;
  }
}
