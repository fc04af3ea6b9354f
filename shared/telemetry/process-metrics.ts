import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricRegistry } from './metric-registry.ts';

/** What the library measures of the event loop costs a scrape time and says what `cep_loop_delay_seconds` says: it is left out. */
const LAG = 'nodejs_eventloop_lag';
const SELDOM_MS = 10_000;
const quantiles = [50, 90, 99] as const;
const nanosecondsPerSecond = 1e9;

/** Metrics of the process itself: its event loop, and what every process of its kind shows. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });

  constructor(registry: MetricRegistry) {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: SELDOM_MS });
    for (const { name } of this.#registry.getMetricsAsArray()) if (name.startsWith(LAG)) this.#registry.removeSingleMetric(name);
    this.#delay.enable();
    registry.collect('cep_loop_delay_seconds', () => [
      ...quantiles.map((quantile) => ({ labels: ['api', String(quantile / 100)], value: this.#seconds(this.#delay.percentile(quantile)) })),
      { labels: ['api', '1'], value: this.#seconds(this.#delay.max) },
    ]);
  }

  /** The text of the process metrics, in the Prometheus format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  close(): void {
    this.#delay.disable();
    this.#registry.clear();
  }

  #seconds(nanoseconds: number): number {
    return Number.isFinite(nanoseconds) ? nanoseconds / nanosecondsPerSecond : 0;
  }
}
