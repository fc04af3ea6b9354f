import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricRegistry, Sample } from './metric-registry.ts';

/** What the library measures of the event loop costs a scrape time and says what `cep_loop_delay_seconds` says: it is left out. */
const LAG = 'nodejs_eventloop_lag';
const SELDOM_MS = 10_000;
const quantiles = [50, 90, 99] as const;
const nanosecondsPerSecond = 1e9;
/** What is shown is of a period that is over, so that a bad time shows after a good one, and any number of scrapers see the same. */
const PERIOD_MS = 60_000;

type LoopDelay = Pick<IntervalHistogram, 'percentile' | 'max' | 'reset' | 'enable' | 'disable'>;

/** Metrics of the process itself: its event loop, and what every process of its kind shows. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #delay: LoopDelay;
  readonly #periods: NodeJS.Timeout;
  /** Of the last period; undefined in the first. */
  #last: readonly Sample[] | undefined;

  constructor(registry: MetricRegistry, delay: LoopDelay = monitorEventLoopDelay({ resolution: 10 })) {
    this.#delay = delay;
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: SELDOM_MS });
    for (const { name } of this.#registry.getMetricsAsArray()) if (name.startsWith(LAG)) this.#registry.removeSingleMetric(name);
    this.#delay.enable();
    this.#periods = setInterval(() => {
      this.#last = this.#delays();
      this.#delay.reset();
    }, PERIOD_MS).unref();
    registry.collect('cep_loop_delay_seconds', () => this.#last ?? this.#delays());
  }

  /** The text of the process metrics, in the Prometheus format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  close(): void {
    clearInterval(this.#periods);
    this.#delay.disable();
    this.#registry.clear();
  }

  #delays(): readonly Sample[] {
    return [
      ...quantiles.map((quantile) => ({ labels: ['api', String(quantile / 100)], value: this.#seconds(this.#delay.percentile(quantile)) })),
      { labels: ['api', '1'], value: this.#seconds(this.#delay.max) },
    ];
  }

  #seconds(nanoseconds: number): number {
    return Number.isFinite(nanoseconds) ? nanoseconds / nanosecondsPerSecond : 0;
  }
}
