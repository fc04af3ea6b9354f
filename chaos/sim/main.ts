import { parseArgs } from 'node:util';
import { mutants, simulatorOf } from './mutants.ts';
import { simulate } from './simulation.ts';

/**
 * `npm run sim -- [--seed N] [--seeds COUNT] [--steps N]` runs seeds from N on and says how to run again what broke a law;
 * `--mutants` runs each mutant until a seed kills it, which must happen within COUNT seeds.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '5000' },
    mutants: { type: 'boolean', default: false },
  },
});
const [first, count, steps] = [values.seed, values.seeds, values.steps].map(Number) as [number, number, number];

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The first seed that breaks a law, with the law. */
function firstFailure(run: typeof simulate): { readonly seed: number; readonly error: Error } | undefined {
  for (let seed = first; seed < first + count; seed++) {
    try {
      run({ seed, steps });
    } catch (error) {
      return { seed, error: error as Error };
    }
  }
  return undefined;
}

if (values.mutants) {
  let alive = 0;
  for (const mutant of mutants) {
    const failure = firstFailure(await simulatorOf(mutant));
    if (failure === undefined) alive++;
    print(failure ? `killed by seed ${failure.seed}: ${mutant.name}: ${failure.error.message}` : `ALIVE: ${mutant.name}`);
  }
  print(`${mutants.length - alive}/${mutants.length} killed within ${count} seeds from ${first} of ${steps} steps`);
  process.exitCode = alive === 0 ? 0 : 1;
} else {
  const failure = firstFailure(simulate);
  if (failure) print(`seed ${failure.seed}: ${failure.error.stack}\nrun it again: npm run sim -- --seed ${failure.seed} --steps ${steps}`);
  else print(`${count} seeds from ${first} of ${steps} steps: no law broken`);
  process.exitCode = failure ? 1 : 0;
}
