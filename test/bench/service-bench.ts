import { join } from 'node:path';
import type { Build } from './builds.ts';
import { runChild, runForJson } from './child-process.ts';
import { eventFile } from './event-files.ts';
import type { PauseFigures } from './processes/micro-figures.ts';
import type { Measured } from './rounds.ts';
import { simulateTo } from './scenario-bench.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { type Spread, spreadOf } from './statistics.ts';

/** One figure of the process as a whole. */
export interface ServiceCase {
  readonly name: string;
  readonly what: string;
  readonly unit: 'ms' | 'B' | 'MB';
  readonly measure: (setup: ServiceSetup) => Promise<number>;
}

export interface ServiceSetup {
  readonly build: Build;
  readonly work: string;
  /** A share of the usual sizes, so that a short form stays short. */
  readonly scale: number;
}

const PRELOADED = 100_000;
const WHOLE_PROCESS = 100_000;
const STREAMED = 1_000_000;

export const serviceCases: readonly ServiceCase[] = [
  {
    name: 'cold-start',
    what: 'cep -V, whole process',
    unit: 'ms',
    measure: async ({ build }) => (await runChild(build.cli, ['--version'])).wallMs,
  },
  {
    name: 'whole-process',
    what: '100,000 events of 01-filter, whole process',
    unit: 'ms',
    measure: async (setup) => (await simulated(setup, WHOLE_PROCESS)).wallMs,
  },
  { name: 'snapshot', what: 'snapshot of windows of 100,000 keys', unit: 'ms', measure: (setup) => pause('snapshot', setup) },
  { name: 'reload', what: 'from text to new engine, 200 operators', unit: 'ms', measure: (setup) => pause('reload', setup) },
  { name: 'preloaded', what: 'memory per event of a file read ahead', unit: 'B', measure: preloadedBytes },
  {
    name: 'streaming',
    what: 'peak memory, 1,000,000 events of 01-filter streamed',
    unit: 'MB',
    measure: async (setup) => (await simulated(setup, STREAMED)).peakMb,
  },
];

/** Of a case over all rounds. */
export interface ServiceFigures {
  readonly name: string;
  readonly what: string;
  readonly unit: ServiceCase['unit'];
  readonly value: Spread;
}

export class ServiceBench implements Measured {
  readonly name: string;
  readonly #case: ServiceCase;
  readonly #setup: ServiceSetup;
  readonly #values: number[] = [];

  constructor(one: ServiceCase, setup: ServiceSetup) {
    this.name = one.name;
    this.#case = one;
    this.#setup = setup;
  }

  async measure(): Promise<void> {
    this.#values.push(await this.#case.measure(this.#setup));
  }

  figures(): ServiceFigures {
    const { name, unit } = this.#case;
    const { scale } = this.#setup;
    const what = scale < 1 ? `${this.#case.what} (short form: ${scale} of the events)` : this.#case.what;
    return { name, what, unit, value: spreadOf(this.#values) };
  }
}

function simulated({ build, work, scale }: ServiceSetup, events: number): ReturnType<typeof simulateTo> {
  const [filter] = scenarios as readonly [Scenario];
  return simulateTo(join(work, 'service.jsonl'), build, filter, eventFile(filter, Math.ceil(events * scale)));
}

async function pause(name: string, { build }: ServiceSetup): Promise<number> {
  return (await runForJson<PauseFigures>(build.process('micro'), [name])).data.ms;
}

async function preloadedBytes({ build, scale }: ServiceSetup): Promise<number> {
  const [filter] = scenarios as readonly [Scenario];
  const events = Math.ceil(PRELOADED * scale);
  const { data } = await runForJson<{ bytes: number }>(build.process('preload'), [eventFile(filter, events)], { flags: ['--expose-gc'] });
  return data.bytes / events;
}
