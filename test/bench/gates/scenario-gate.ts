import type { Build } from '../builds.ts';
import { calibrate } from '../calibrator.ts';
import { runForJson } from '../child-process.ts';
import { eventFile, readAhead } from '../event-files.ts';
import { totalsOf } from '../expectations.ts';
import type { Clock } from '../options.ts';
import { requireSum, type Totals, WrongOutputs } from '../outputs.ts';
import { coldTime, lastTime, loadTime, type RunFigures } from '../processes/run-figures.ts';
import type { Measured } from '../rounds.ts';
import { programOf, type Scenario } from '../scenarios.ts';
import { ratiosOf, type Spread, spreadOf } from '../statistics.ts';
import { goalOfScenario, type Verdict, verdictOf } from './goals.ts';
import { type Circumstances, noisyCount } from './noise.ts';

export interface ScenarioGateSetup {
  readonly build: Build;
  readonly events: number;
  /** Runs in each process: the first is cold, the last warm. */
  readonly runs: number;
  readonly clock: Clock;
  /** What is expected so far is not asked for. */
  readonly record: boolean;
}

/** How a scenario stands to its bound. Ratios are speeds as a share of the bound's. */
export interface ScenarioGateFigures {
  readonly name: string;
  readonly events: number;
  readonly outputs: number;
  readonly engineMs: Spread;
  readonly boundMs: Spread;
  /** In fresh processes, from the opened event file to outputs in memory: what the gate is about. */
  readonly cold: Spread;
  /** The same with reading, checking and compiling the program. */
  readonly coldWithLoad: Spread;
  /** The last run of the same processes. */
  readonly warm: Spread;
  readonly gate: number;
  readonly target: number | undefined;
  readonly verdict: Verdict;
  readonly noisyRounds: number;
  readonly rounds: number;
}

/** One scenario and its bound, each in a fresh process, in turn: whoever goes first goes second in the next round. */
export class ScenarioGate implements Measured {
  readonly name: string;
  readonly circumstances: Circumstances[] = [];
  readonly #scenario: Scenario;
  readonly #setup: ScenarioGateSetup;
  readonly #path: string;
  #expected: Totals | undefined;
  readonly #engine: RunFigures[] = [];
  readonly #bound: RunFigures[] = [];

  constructor(scenario: Scenario, setup: ScenarioGateSetup) {
    this.name = scenario.name;
    this.#scenario = scenario;
    this.#setup = setup;
    this.#path = eventFile(scenario, setup.events);
    this.#expected = setup.record ? undefined : totalsOf(scenario.name, setup.events);
  }

  /** @throws WrongOutputs when engine or bound gives something else than the other, or than what is expected */
  async measure(): Promise<void> {
    readAhead(this.#path);
    const before = calibrate();
    const isEngineFirst = this.#engine.length % 2 === 0;
    if (isEngineFirst) await this.#runEngine();
    await this.#runBound();
    if (!isEngineFirst) await this.#runEngine();
    const runs = [this.#engine.at(-1) as RunFigures, this.#bound.at(-1) as RunFigures];
    this.#requireTotals(runs);
    const elapsedMs = sumOf(runs.map((run) => coldTime(run, 'wall')));
    this.circumstances.push({ before, after: calibrate(), elapsedMs, cpuMs: sumOf(runs.map((run) => coldTime(run, 'cpu'))) });
  }

  get events(): number {
    return this.#setup.events;
  }

  /** What both give, as soon as it was measured. */
  get totals(): Totals {
    if (this.#expected === undefined) throw new Error(`${this.name} was not measured`);
    return this.#expected;
  }

  /** Cold, round by round. */
  get perEvent(): readonly number[] {
    return this.#coldMs.map((ms) => (ms * 1e6) / this.#setup.events);
  }

  get #coldMs(): readonly number[] {
    return this.#engine.map((run) => coldTime(run, this.#setup.clock));
  }

  /** `all`: what all measurements of the run say about the machine. */
  figures(all: readonly Circumstances[]): ScenarioGateFigures {
    const { clock, events } = this.#setup;
    const bound = this.#bound.map((run) => coldTime(run, clock));
    const withLoad = this.#engine.map((run) => coldTime(run, clock) + loadTime(run, clock));
    const warm = (runs: readonly RunFigures[]): number[] => runs.map((run) => lastTime(run, clock));
    const cold = spreadOf(ratiosOf(bound, this.#coldMs));
    const { gate, target } = goalOfScenario(this.name);
    return {
      name: this.name,
      events,
      outputs: this.totals.outputs,
      engineMs: spreadOf(this.#coldMs),
      boundMs: spreadOf(bound),
      cold,
      coldWithLoad: spreadOf(ratiosOf(bound, withLoad)),
      warm: spreadOf(ratiosOf(warm(this.#bound), warm(this.#engine))),
      gate,
      target,
      verdict: verdictOf(cold.median, goalOfScenario(this.name)),
      noisyRounds: noisyCount(this.circumstances, all),
      rounds: this.circumstances.length,
    };
  }

  async #runEngine(): Promise<void> {
    const args = [programOf(this.#scenario), this.#path, String(this.#setup.runs), 'compiled', this.#scenario.checked];
    this.#engine.push((await runForJson<RunFigures>(this.#setup.build.process('engine'), args)).data);
  }

  async #runBound(): Promise<void> {
    const args = [this.name, this.#path, String(this.#setup.runs)];
    this.#bound.push((await runForJson<RunFigures>(this.#setup.build.process('bound'), args)).data);
  }

  #requireTotals(runs: readonly RunFigures[]): void {
    const [engine, bound] = runs as [RunFigures, RunFigures];
    this.#expected ??= { outputs: bound.outputs, sum: bound.sum };
    requireSum(`the bound of ${this.name}`, bound, this.#expected);
    requireSum(`the engine on ${this.name}`, engine, this.#expected);
    for (const { events } of runs) {
      if (events !== this.#setup.events) throw new WrongOutputs(`${this.name}: ${events} events for ${this.#setup.events}`);
    }
  }
}

function sumOf(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0);
}
