import { join } from 'node:path';
import type { Build } from './builds.ts';
import { runForJson } from './child-process.ts';
import { eventFile, readAhead } from './event-files.ts';
import { type Verdict, verdictOf } from './gates/goals.ts';
import type { PauseFigures } from './processes/micro-figures.ts';
import type { Measured } from './rounds.ts';
import { simulateTo } from './scenario-bench.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { serverCases } from './server-cases.ts';
import { type Spread, spreadOf } from './statistics.ts';
import { runVersion, workersCases } from './workers-bench.ts';

/** One figure of the process as a whole. */
export interface ServiceCase {
  readonly name: string;
  readonly what: string;
  readonly unit: 'ms' | 'MB' | 'x';
  readonly goal?: ServiceGoal;
  /** A word instead of a figure says why there is none. */
  readonly measure: (setup: ServiceSetup) => Promise<number | string>;
}

/** What a figure must come to: at most, or for speeds (`x`) at least. */
export interface ServiceGoal {
  readonly gate: number;
  readonly target: number;
}

export interface ServiceSetup {
  readonly build: Build;
  readonly work: string;
}

const PRELOADED = 100_000;
const WHOLE_PROCESS = 100_000;
const STREAMED = 1_000_000;

export const serviceCases: readonly ServiceCase[] = [
  { name: 'cold-start', what: 'cep -V, whole process', unit: 'ms', measure: runVersion },
  {
    name: 'whole-process',
    what: '100,000 events of 01-filter, whole process, --quiet',
    unit: 'ms',
    goal: { gate: 200, target: 130 },
    measure: async (setup) => (await simulated(setup, WHOLE_PROCESS, '--quiet')).wallMs,
  },
  {
    name: 'snapshot',
    what: 'snapshot of windows of 100,000 keys',
    unit: 'ms',
    goal: { gate: 50, target: 10 },
    measure: (setup) => pause('snapshot', setup),
  },
  {
    name: 'reload',
    what: 'from text to new engine, 200 operators',
    unit: 'ms',
    goal: { gate: 50, target: 10 },
    measure: (setup) => pause('reload', setup),
  },
  {
    name: 'addition',
    what: 'from text to new engine, one rule more than 1,000',
    unit: 'ms',
    goal: { gate: 20, target: 10 },
    measure: (setup) => pause('addition', setup),
  },
  {
    name: 'preloaded',
    what: 'memory of 100,000 events of 01-filter read ahead',
    unit: 'MB',
    goal: { gate: 20, target: 8 },
    measure: preloadedMb,
  },
  {
    name: 'streaming',
    what: 'peak memory, 1,000,000 events of 01-filter streamed',
    unit: 'MB',
    goal: { gate: 120, target: 90 },
    measure: async (setup) => (await simulated(setup, STREAMED)).peakMb,
  },
  ...workersCases,
  ...serverCases,
];

/** Of a case over all rounds. */
export interface ServiceFigures {
  readonly name: string;
  readonly what: string;
  readonly unit: ServiceCase['unit'];
  /** Null when there is no figure. */
  readonly value: Spread | null;
  /** Why there is none. */
  readonly skipped: string | null;
  readonly goal: ServiceGoal | null;
  /** Null without a goal and without a figure. */
  readonly verdict: Verdict | null;
}

export class ServiceBench implements Measured {
  readonly name: string;
  readonly #case: ServiceCase;
  readonly #setup: ServiceSetup;
  readonly #values: number[] = [];
  #skipped: string | null = null;

  constructor(one: ServiceCase, setup: ServiceSetup) {
    this.name = one.name;
    this.#case = one;
    this.#setup = setup;
  }

  async measure(): Promise<void> {
    const value = await this.#case.measure(this.#setup);
    if (typeof value === 'string') this.#skipped = value;
    else this.#values.push(value);
  }

  figures(): ServiceFigures {
    const { name, what, unit, goal = null } = this.#case;
    const value = this.#values.length > 0 ? spreadOf(this.#values) : null;
    const verdict = goal === null || value === null ? null : verdictOfFigure(value.median, unit, goal);
    return { name, what, unit, value, skipped: value === null ? this.#skipped : null, goal, verdict };
  }
}

/** Speeds must reach their goal, everything else must not exceed it. */
export function verdictOfFigure(value: number, unit: ServiceCase['unit'], { gate, target }: ServiceGoal): Verdict {
  return unit === 'x' ? verdictOf(value, { gate, target }) : verdictOf(1 / value, { gate: 1 / gate, target: 1 / target });
}

function simulated({ build, work }: ServiceSetup, events: number, shows?: '--quiet'): ReturnType<typeof simulateTo> {
  const [filter] = scenarios as readonly [Scenario];
  const path = eventFile(filter, events);
  readAhead(path);
  return simulateTo(join(work, 'service.jsonl'), build, filter, path, shows);
}

async function pause(name: string, { build }: ServiceSetup): Promise<number> {
  return (await runForJson<PauseFigures>(build.process('pause'), [name])).data.ms;
}

async function preloadedMb({ build }: ServiceSetup): Promise<number> {
  const [filter] = scenarios as readonly [Scenario];
  const path = eventFile(filter, PRELOADED);
  const { data } = await runForJson<{ bytes: number }>(build.process('preload'), [path], { flags: ['--expose-gc'] });
  return data.bytes / 1e6;
}
