/** Buckets in each doubling: a percentile is at most 1/16 too high. */
const BUCKETS_PER_OCTAVE = 16;
const OCTAVES = 48;

/** Durations in buckets whose width grows with them: exact enough for percentiles, the same small size for any number of them. */
export class Histogram {
  readonly #buckets = new Float64Array(BUCKETS_PER_OCTAVE * OCTAVES);
  #count = 0;
  #max = 0;

  /** Nanoseconds; what is below 1 counts as 1. */
  add(ns: number): void {
    const bucket = ns <= 1 ? 0 : Math.min(this.#buckets.length - 1, Math.floor(Math.log2(ns) * BUCKETS_PER_OCTAVE));
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1;
    this.#count++;
    if (ns > this.#max) this.#max = ns;
  }

  get count(): number {
    return this.#count;
  }

  get max(): number {
    return this.#max;
  }

  /** The duration that a share (0..1) of all does not exceed, rounded up to its bucket's end and no more than the largest. */
  percentile(share: number): number {
    const wanted = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let bucket = 0; bucket < this.#buckets.length; bucket++) {
      seen += this.#buckets[bucket] as number;
      if (seen >= wanted) return Math.min(this.#max, 2 ** ((bucket + 1) / BUCKETS_PER_OCTAVE));
    }
    return this.#max;
  }
}
