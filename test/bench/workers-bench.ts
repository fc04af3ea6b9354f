import { runChild } from './child-process.ts';
import { eventFile, readAhead } from './event-files.ts';
import { programOf, type Scenario, scenarios } from './scenarios.ts';
import type { ServiceCase, ServiceSetup } from './service-bench.ts';

const EVENTS = 1_000_000;
/** A second thread must never cost much. Where an event costs more than half a microsecond it should pay. */
const NEVER_BELOW = 0.95;
const PAYS = 1.5;

/** What two threads gain over one, for the scenarios whose events depend on each other. */
export const workersCases: readonly ServiceCase[] = scenarios
  .filter(({ name }) => name >= '02' && name < '08')
  .map((scenario) => ({
    name: `workers-${scenario.name}`,
    what: `speed of ${scenario.name} with two threads over one`,
    unit: 'x',
    goal: { gate: NEVER_BELOW, target: PAYS },
    measure: (setup) => gainOfTwo(scenario, setup),
  }));

/** Start and end of the command line alone. */
export async function runVersion({ build }: ServiceSetup): Promise<number> {
  return (await runChild(build.cli, ['--version'])).wallMs;
}

async function gainOfTwo(scenario: Scenario, { build }: ServiceSetup): Promise<number | string> {
  const path = eventFile(scenario, EVENTS);
  readAhead(path);
  const run = async (workers: number): Promise<Summary> => {
    const args = ['simulate', '--program', programOf(scenario), '--events', path, '--quiet', '--streaming', '--workers', String(workers)];
    return readSummary((await runChild(build.cli, args)).stdout);
  };
  const two = await run(2);
  if (two.workers < 2) return 'one thread was used';
  return (await run(1)).seconds / two.seconds;
}

interface Summary {
  readonly seconds: number;
  readonly workers: number;
}

/** From the report that a simulation ends with. @throws Error when it has none */
export function readSummary(text: string): Summary {
  const seconds = /^Duration: +([\d.]+)s$/m.exec(text)?.[1];
  // Behind the number it may say why there are no more.
  const workers = /^Workers used: +(\d+)(?: \(.*\))?$/m.exec(text)?.[1];
  if (seconds === undefined || workers === undefined) throw new Error(`no summary of a simulation in '${text.slice(-200)}'`);
  return { seconds: Number(seconds), workers: Number(workers) };
}
