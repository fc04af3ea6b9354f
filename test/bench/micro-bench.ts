import type { Build } from './builds.ts';
import { runForJson } from './child-process.ts';
import type { MicroCase } from './micro/cases.ts';
import type { MicroFigures } from './processes/micro-figures.ts';
import type { Measured } from './rounds.ts';
import { type Spread, spreadOf } from './statistics.ts';

/** A case in memory over all rounds; times are nanoseconds. */
export interface MicroSummary {
  readonly name: string;
  readonly what: string;
  readonly outputs: number;
  /** Events per second. */
  readonly rate: Spread;
  /** Speed over that of the reference evaluator. */
  readonly timesReference: Spread;
  readonly p50: Spread;
  readonly p99: Spread;
  readonly p999: Spread;
  readonly max: Spread;
}

/** A case in memory, in a process of its own. */
export class MicroBench implements Measured {
  readonly name: string;
  readonly #case: MicroCase;
  readonly #build: Build;
  readonly #scale: number;
  readonly #figures: MicroFigures[] = [];

  /** `scale`: a share of the measured events. */
  constructor(micro: MicroCase, build: Build, scale: number) {
    this.name = micro.name;
    this.#case = micro;
    this.#build = build;
    this.#scale = scale;
  }

  async measure(): Promise<void> {
    const { data } = await runForJson<MicroFigures>(this.#build.process('micro'), [this.name, String(this.#scale)]);
    this.#figures.push(data);
  }

  figures(): MicroSummary {
    const spread = (of: (figures: MicroFigures) => number): Spread => spreadOf(this.#figures.map(of));
    return {
      name: this.name,
      what: this.#case.what,
      outputs: this.#figures[0]?.outputs ?? 0,
      rate: spread(({ nsPerEvent }) => 1e9 / nsPerEvent),
      timesReference: spread(({ nsPerEvent, referenceNsPerEvent }) => referenceNsPerEvent / nsPerEvent),
      p50: spread(({ p50 }) => p50),
      p99: spread(({ p99 }) => p99),
      p999: spread(({ p999 }) => p999),
      max: spread(({ max }) => max),
    };
  }
}
