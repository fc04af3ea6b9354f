/** Measures the engine: `npm run bench -- --help`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgainstFigures, measureAgainst } from './against.ts';
import { type Build, buildCheckout, ROOT } from './builds.ts';
import { noisyRounds } from './calibrator.ts';
import { recordExpected } from './expectations.ts';
import { pairFigures } from './gates/pair-gate.ts';
import { ScenarioGate } from './gates/scenario-gate.ts';
import type { MicroCase } from './micro/case.ts';
import { microCases } from './micro/cases.ts';
import { MicroBench } from './micro-bench.ts';
import { type BenchOptions, chosen, readOptions, USAGE, UsageError } from './options.ts';
import { publish } from './published.ts';
import { microCheck, scenarioCheck } from './quick-checks.ts';
import { type BenchReport, reportText } from './report.ts';
import { measureInRounds, runSideBySide, succeeded } from './rounds.ts';
import { ScenarioBench } from './scenario-bench.ts';
import { eventsOf, eventsOfGate, type Scenario, scenarios } from './scenarios.ts';
import { ServiceBench, type ServiceCase, serviceCases } from './service-bench.ts';

/** The first makes the code warm. */
const WARM_RUNS = 2;
/** The first is cold, the last warm. */
const GATE_RUNS = 4;
const NOTHING_MEASURED = {
  noisy: [],
  failures: [],
  checks: [],
  gates: [],
  pairs: [],
  scenarios: [],
  micro: [],
  service: [],
  against: null,
} as const;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) return print(USAGE);
  const work = mkdtempSync(join(tmpdir(), 'cep-bench-'));
  try {
    const options = readOptions(args);
    const report = await reportOf(options, work);
    print(options.json ? JSON.stringify(report, null, 2) : reportText(report));
    if (options.publish) publish(report);
    return isFailed(report, options.gates) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return 2;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function reportOf(options: BenchOptions, work: string): Promise<BenchReport> {
  if (options.quick && !options.gates && options.against === undefined) return checkQuickly(options, work);
  return options.against === undefined ? bench(options, work) : benchAgainst(options, options.against, work);
}

/** Whether something could not be measured, or was judged and is not good enough. */
function isFailed({ against, failures, gates, pairs, micro, service }: BenchReport, isJudged: boolean): boolean {
  const judged = isJudged ? [...gates, ...pairs, ...micro, ...service] : [];
  return failures.length > 0 || (against?.slower ?? []).length > 0 || judged.some(({ verdict }) => verdict === 'FAIL');
}

async function checkQuickly(options: BenchOptions, work: string): Promise<BenchReport> {
  const { names, events, record } = options;
  const setup = { build: await buildCheckout(ROOT), work, events, record };
  const all = [
    ...scenarios.map((scenario) => ({ name: scenario.name, group: 'scenarios', make: () => scenarioCheck(scenario, setup) })),
    ...microCases.map((micro) => ({ name: micro.name, group: 'micro', make: () => microCheck(micro, setup) })),
  ];
  const checks = chosen(all, names).map(({ make }) => make());
  const failures = await runSideBySide(checks, availableParallelism(), say);
  return { ...circumstances(options), ...NOTHING_MEASURED, failures, checks: succeeded(checks, failures).map((check) => check.figures()) };
}

async function bench(options: BenchOptions, work: string): Promise<BenchReport> {
  const tasks = chosen(allTasks(), options.names);
  const build = await buildCheckout(ROOT);
  const tried = tasks.map(({ make }) => make({ build, work, options }));
  const { calibrations, failures } = await measureInRounds(tried, options.rounds, say);
  const made = succeeded(tried, failures);
  const gates = made.filter((one) => one instanceof ScenarioGate);
  const scenarioBenches = made.filter((one) => one instanceof ScenarioBench);
  if (options.record) {
    for (const one of scenarioBenches) recordExpected(one.name, one.events, one.expected);
    for (const one of gates) recordExpected(one.name, one.events, one.totals);
  }
  const micro = made.filter((one) => one instanceof MicroBench);
  const all = gates.flatMap(({ circumstances }) => circumstances);
  return {
    ...circumstances(options),
    ...NOTHING_MEASURED,
    noisy: noisyRounds(calibrations),
    failures,
    gates: gates.map((gate) => gate.figures(all)),
    pairs: [...pairFigures(gates), ...pairFigures(micro)],
    scenarios: scenarioBenches.map((one) => one.figures()),
    micro: micro.map((one) => one.figures()),
    service: made.flatMap((one) => (one instanceof ServiceBench ? [one.figures()] : [])),
  };
}

async function benchAgainst(options: BenchOptions, folder: string, work: string): Promise<BenchReport> {
  const { names, events, rounds, clock } = options;
  const picked = chosen(
    scenarios.map((scenario) => ({ ...scenario, group: 'scenarios' })),
    names,
  );
  const ours = await buildCheckout(ROOT);
  const { calibrations, failures, ...against }: AgainstFigures = await measureAgainst(picked, {
    ours,
    folder,
    events,
    rounds,
    clock,
    work,
    say,
  });
  return { ...circumstances(options), ...NOTHING_MEASURED, noisy: noisyRounds(calibrations), failures, against };
}

interface TaskSetup {
  readonly build: Build;
  readonly work: string;
  readonly options: BenchOptions;
}

interface Task {
  readonly name: string;
  readonly group: string;
  readonly make: (setup: TaskSetup) => ScenarioGate | ScenarioBench | MicroBench | ServiceBench;
}

function allTasks(): Task[] {
  const ofScenario = (scenario: Scenario): Task => ({
    name: scenario.name,
    group: 'scenarios',
    make: ({ build, work, options: { gates, events, record, clock, quick } }) => {
      if (gates) {
        return new ScenarioGate(scenario, { build, events: eventsOfGate(scenario, events), clock, record, runs: quick ? 1 : GATE_RUNS });
      }
      const setup = { build, work, events: eventsOf(scenario, events), runs: WARM_RUNS, clock };
      return record ? new ScenarioBench(scenario, setup, null) : new ScenarioBench(scenario, setup);
    },
  });
  const ofMicro = (micro: MicroCase): Task => ({
    name: micro.name,
    group: 'micro',
    make: ({ build, options: { clock, gates } }) => new MicroBench(micro, { build, clock, withReference: !gates }),
  });
  const ofService = (one: ServiceCase): Task => ({
    name: one.name,
    group: 'service',
    make: ({ build, work }) => new ServiceBench(one, { build, work }),
  });
  return [...scenarios.map(ofScenario), ...microCases.map(ofMicro), ...serviceCases.map(ofService)];
}

function circumstances({ rounds, clock }: BenchOptions): Pick<BenchReport, 'date' | 'node' | 'processor' | 'cores' | 'rounds' | 'clock'> {
  const processor = cpus()[0]?.model.trim() ?? 'unknown';
  return { date: new Date().toISOString(), node: process.versions.node, processor, cores: availableParallelism(), rounds, clock };
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

/** What is at work, for those who wait. */
function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else process.stderr.write(`${text}\n`);
}
