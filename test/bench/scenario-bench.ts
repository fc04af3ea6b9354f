import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from './builds.ts';
import { type Finished, runChild, runForJson } from './child-process.ts';
import { eventFile, readAhead } from './event-files.ts';
import { expectedOf } from './expectations.ts';
import type { Clock } from './options.ts';
import { type Expected, readOutputs, requireSum, requireWritten } from './outputs.ts';
import { lastTime, type RunFigures } from './processes/run-figures.ts';
import type { Measured } from './rounds.ts';
import { programOf, type Scenario } from './scenarios.ts';
import { ratiosOf, type Spread, spreadOf } from './statistics.ts';

export interface ScenarioSetup {
  readonly build: Build;
  readonly events: number;
  /** Runs of a warm process, of which the last is measured. */
  readonly runs: number;
  readonly clock: Clock;
  /** A folder for what is written. */
  readonly work: string;
}

export interface ScenarioFigures {
  readonly name: string;
  readonly what: string;
  readonly events: number;
  readonly outputs: number;
  readonly sha256: string;
  /** Whole process, event file to a file of outputs. */
  readonly coldMs: Spread;
  readonly coldBoundMs: Spread;
  /** In a warm process, event file to output events in memory; events per second. */
  readonly rate: Spread;
  readonly boundRate: Spread;
  readonly referenceRate: Spread;
  /** Time of the engine over that of the bound, round by round. */
  readonly timesBound: Spread;
  /** Speed of the engine over that of the reference evaluator. */
  readonly timesReference: Spread;
  /** Of the cold process. */
  readonly peakMb: Spread;
}

/** One scenario: the engine, its bound and the reference evaluator, each in a process of its own, in the same sequence every round. */
export class ScenarioBench implements Measured {
  readonly name: string;
  readonly #scenario: Scenario;
  readonly #setup: ScenarioSetup;
  readonly #events: string;
  #expected: Expected | null;
  readonly #cold: Finished[] = [];
  readonly #coldBound: Finished[] = [];
  readonly #warm: number[] = [];
  readonly #bound: number[] = [];
  readonly #reference: number[] = [];

  /** `expected`: what every run is held to; null = what the first one gives. */
  constructor(scenario: Scenario, setup: ScenarioSetup, expected = expectedOf(scenario.name, setup.events) ?? null) {
    this.name = scenario.name;
    this.#scenario = scenario;
    this.#setup = setup;
    this.#events = eventFile(scenario, setup.events);
    this.#expected = expected;
  }

  /** @throws WrongOutputs when a run gives something else than the others, or than what is expected */
  async measure(): Promise<void> {
    readAhead(this.#events);
    const { build } = this.#setup;
    const bound = await runForJson<RunFigures>(build.process('bound'), [this.name, this.#events, '1', this.#path('bound')]);
    this.#coldBound.push(bound);
    this.#cold.push(await this.#simulate(bound.data));
    this.#bound.push(await this.#warmTime('bound', [this.name, this.#events, String(this.#setup.runs)]));
    const engine = [programOf(this.#scenario), this.#events, String(this.#setup.runs)];
    const { checked } = this.#scenario;
    this.#warm.push(await this.#warmTime('engine', [...engine, 'compiled', checked]));
    this.#reference.push(await this.#warmTime('engine', [...engine, 'reference', checked]));
  }

  get events(): number {
    return this.#setup.events;
  }

  /** What the scenario must give, as soon as it was measured. */
  get expected(): Expected {
    if (this.#expected === null) throw new Error(`${this.name} was not measured`);
    return this.#expected;
  }

  figures(): ScenarioFigures {
    const { events } = this.#setup;
    const { outputs, sha256 } = this.expected;
    const rateOf = (times: readonly number[]): Spread => spreadOf(times.map((ms) => (events * 1000) / ms));
    const walls = (runs: readonly Finished[]): Spread => spreadOf(runs.map(({ wallMs }) => wallMs));
    return {
      name: this.name,
      what: this.#scenario.what,
      events,
      outputs,
      sha256,
      coldMs: walls(this.#cold),
      coldBoundMs: walls(this.#coldBound),
      rate: rateOf(this.#warm),
      boundRate: rateOf(this.#bound),
      referenceRate: rateOf(this.#reference),
      timesBound: spreadOf(ratiosOf(this.#warm, this.#bound)),
      timesReference: spreadOf(ratiosOf(this.#reference, this.#warm)),
      peakMb: spreadOf(this.#cold.map(({ peakMb }) => peakMb)),
    };
  }

  async #simulate(bound: RunFigures): Promise<Finished> {
    const path = this.#path('engine');
    const finished = await simulateTo(path, this.#setup.build, this.#scenario, this.#events);
    const written = readOutputs(path);
    this.#expected ??= { ...written, sum: bound.sum };
    requireSum(`the bound of ${this.name}`, bound, this.#expected);
    requireWritten(`simulate of ${this.name}`, written, this.#expected);
    return finished;
  }

  /** The last run of a process that runs it several times. */
  async #warmTime(process: 'bound' | 'engine', args: readonly string[]): Promise<number> {
    const { data } = await runForJson<RunFigures>(this.#setup.build.process(process), args);
    requireSum(`${args[3] ?? process} run of ${this.name}`, data, this.expected);
    return lastTime(data, this.#setup.clock);
  }

  #path(who: string): string {
    return join(this.#setup.work, `${this.name}-${who}.jsonl`);
  }
}

/** The command line over an event file on one thread, what it shows in a file: its output events, or the report alone. */
export async function simulateTo(
  path: string,
  build: Build,
  scenario: Scenario,
  events: string,
  shows: '--json' | '--quiet' = '--json',
): Promise<Finished> {
  const file = openSync(path, 'w');
  try {
    const args = ['simulate', '--program', programOf(scenario), '--events', events, shows, '--streaming', '--workers', '1'];
    return await runChild(build.cli, args, { stdout: file });
  } finally {
    closeSync(file);
  }
}
