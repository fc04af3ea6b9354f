import type { Build } from './builds.ts';
import { runForJson } from './child-process.ts';
import { type Verdict, verdictOf } from './gates/goals.ts';
import { MICRO_GOAL, type MicroCase } from './micro/case.ts';
import type { Mode } from './micro/contenders.ts';
import type { Clock } from './options.ts';
import type { MicroFigures, Singles } from './processes/micro-figures.ts';
import type { Measured } from './rounds.ts';
import { ratiosOf, type Spread, spreadOf } from './statistics.ts';

/** A case in memory over all rounds; times are nanoseconds, speeds shares of the bound's. */
export interface MicroSummary {
  readonly name: string;
  readonly what: string;
  readonly outputs: number;
  /** Events per second by the faster door. */
  readonly rate: Spread;
  readonly boundRate: Spread;
  /** Events handed in as events, speed over the bound's. */
  readonly push: Spread;
  /** Events handed in as scalars; null where the program has no entry for them. */
  readonly enter: Spread | null;
  /** Speed over that of the reference evaluator; null when it was not measured. */
  readonly timesReference: Spread | null;
  readonly gate: number;
  readonly target: number | undefined;
  readonly verdict: Verdict;
  /** Of single events by the faster door, and of the bound; null when there was no time for them. */
  readonly singles: Record<keyof Singles, Spread> | null;
  readonly boundSingles: Record<keyof Singles, Spread> | null;
  /** Whether the 99th percentile is small enough; null where nothing is asked of it. */
  readonly p99Verdict: Verdict | null;
}

export interface MicroSetup {
  readonly build: Build;
  readonly clock: Clock;
  /** The reference evaluator is slow, so it may be left out. */
  readonly withReference: boolean;
}

/** Share of the events that the reference evaluator is given. */
const REFERENCE_SCALE = 0.1;

/** A case in memory: the bound and the engine by each of its doors, each in a process of its own, in turn. */
export class MicroBench implements Measured {
  readonly name: string;
  readonly #case: MicroCase;
  readonly #setup: MicroSetup;
  readonly #figures: Record<Mode, MicroFigures[]> = { bound: [], push: [], enter: [], reference: [] };

  constructor(micro: MicroCase, setup: MicroSetup) {
    this.name = micro.name;
    this.#case = micro;
    this.#setup = setup;
  }

  async measure(): Promise<void> {
    const modes: Mode[] = ['push', 'bound', 'enter'];
    if (this.#figures.push.length % 2 === 1) modes.reverse();
    if (this.#setup.withReference) modes.push('reference');
    for (const mode of modes) {
      const scale = mode === 'reference' ? REFERENCE_SCALE : 1;
      const { data } = await runForJson<MicroFigures | null>(this.#setup.build.process('micro'), [this.name, mode, String(scale)]);
      if (data !== null) this.#figures[mode].push(data);
    }
  }

  /** By the faster door, round by round. */
  get perEvent(): readonly number[] {
    return this.#nsOf(this.#fasterDoor());
  }

  figures(): MicroSummary {
    const { bound, reference, enter } = this.#figures;
    const door = this.#fasterDoor();
    const rate = (mode: Mode): Spread => spreadOf(this.#nsOf(mode).map((ns) => 1e9 / ns));
    const share = (mode: Mode): Spread => spreadOf(ratiosOf(this.#nsOf('bound'), this.#nsOf(mode)));
    const judged = share(door);
    const singles = singlesOf(this.#figures[door]);
    return {
      name: this.name,
      what: this.#case.what,
      outputs: bound[0]?.outputs ?? 0,
      rate: rate(door),
      boundRate: rate('bound'),
      push: share('push'),
      enter: enter.length > 0 ? share('enter') : null,
      timesReference: reference.length > 0 ? spreadOf(ratiosOf(this.#nsOf('reference'), this.perEvent)) : null,
      gate: MICRO_GOAL.gate,
      target: MICRO_GOAL.target,
      verdict: verdictOf(judged.median, MICRO_GOAL),
      singles,
      boundSingles: singlesOf(bound),
      p99Verdict: this.#p99Verdict(singles?.p99.median),
    };
  }

  #p99Verdict(ns = Number.POSITIVE_INFINITY): Verdict | null {
    const { p99 } = this.#case;
    return p99 === undefined ? null : verdictOf(1 / ns, { gate: 1 / p99.gateNs, target: 1 / p99.targetNs });
  }

  #fasterDoor(): Mode {
    const median = (mode: Mode): number => spreadOf(this.#nsOf(mode)).median;
    return this.#figures.enter.length > 0 && median('enter') < median('push') ? 'enter' : 'push';
  }

  #nsOf(mode: Mode): number[] {
    return this.#figures[mode].map(({ nsPerEvent, cpuNsPerEvent }) => (this.#setup.clock === 'cpu' ? cpuNsPerEvent : nsPerEvent));
  }
}

function singlesOf(figures: readonly MicroFigures[]): Record<keyof Singles, Spread> | null {
  const measured = figures.flatMap(({ singles }) => singles ?? []);
  if (measured.length === 0) return null;
  const spread = (key: keyof Singles): Spread => spreadOf(measured.map((singles) => singles[key]));
  return { p50: spread('p50'), p99: spread('p99'), p999: spread('p999'), max: spread('max') };
}
