/** Rates are differences between two answers of the server, by its own clock. */
export interface Sample<T> {
  readonly timeMs: number;
  readonly counts: T;
}

const samplesMax = 90;

/** Counts per second between two samples; 0 where a count went down, as after a restore. */
function rateOf<T>(before: Sample<T> | undefined, now: Sample<T> | undefined, count: (counts: T) => number): number | undefined {
  if (before === undefined || now === undefined || now.timeMs <= before.timeMs) return undefined;
  return Math.max(0, ((count(now.counts) - count(before.counts)) * 1_000) / (now.timeMs - before.timeMs));
}

/** The newest samples, oldest first. */
export class History<T> {
  #samples: readonly Sample<T>[] = [];

  get samples(): readonly Sample<T>[] {
    return this.#samples;
  }

  add(sample: Sample<T>): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && sample.timeMs <= last.timeMs) return;
    this.#samples = [...this.#samples.slice(1 - samplesMax), sample];
  }

  /** Counts per second over the last seconds, so that single polls do not flicker. */
  rate(count: (counts: T) => number, overMs = 6_000): number | undefined {
    const now = this.#samples.at(-1);
    if (now === undefined) return undefined;
    const before = this.#samples.find(({ timeMs }) => timeMs >= now.timeMs - overMs);
    return rateOf(before === now ? undefined : before, now, count);
  }

  /** The rate between each two neighbours. */
  rates(count: (counts: T) => number): readonly number[] {
    return this.#samples.slice(1).map((sample, at) => rateOf(this.#samples[at], sample, count) ?? 0);
  }
}
