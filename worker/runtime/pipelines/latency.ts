import { type LatencyMetrics, latencyBucketsSeconds } from '../service.ts';

/** Buckets of a factor of 2^(1/4), from 1 us to about 18 minutes. */
const STEPS_PER_DOUBLING = 4;
const BUCKETS = 120;

/** How long events took, as counts in buckets that grow with the time: quantiles are right within 10 %. */
export class Latency {
  readonly #counts = new Float64Array(BUCKETS);
  #total = 0;

  add(us: number, events: number): void {
    const bucket = us <= 1 ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log2(us) * STEPS_PER_DOUBLING));
    this.#counts[bucket] = (this.#counts[bucket] as number) + events;
    this.#total += events;
  }

  metrics(): LatencyMetrics {
    return { p50Us: this.#quantile(0.5), p95Us: this.#quantile(0.95), p99Us: this.#quantile(0.99) };
  }

  #quantile(share: number): number {
    if (this.#total === 0) return 0;
    let left = share * this.#total;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#counts[bucket] as number;
      if (left <= 0) return Math.round(2 ** ((bucket + 0.5) / STEPS_PER_DOUBLING));
    }
    return Math.round(2 ** (BUCKETS / STEPS_PER_DOUBLING));
  }
}

/** The histogram of a scrape: counts per bucket and the sum of seconds. */
export class LatencyHistogram {
  readonly counts = new Float64Array(latencyBucketsSeconds.length + 1);
  sum = 0;

  /** So many that took as long. */
  add(seconds: number, count: number): void {
    let bucket = 0;
    while (bucket < latencyBucketsSeconds.length && seconds > (latencyBucketsSeconds[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + count;
    this.sum += seconds * count;
  }
}
