import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { ProcessMetrics } from '../../../shared/telemetry/process-metrics.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** Delays as perf_hooks have them: all since the last reset, in nanoseconds. */
class Delays {
  readonly #seen: number[] = [];

  add(count: number, seconds: number): void {
    for (let n = 0; n < count; n++) this.#seen.push(seconds * 1e9);
  }

  percentile(percent: number): number {
    return this.#seen.toSorted((a, b) => a - b)[Math.ceil((percent / 100) * this.#seen.length) - 1] ?? 0;
  }

  get max(): number {
    return Math.max(0, ...this.#seen);
  }

  reset(): void {
    this.#seen.length = 0;
  }

  readonly enable = (): boolean => true;
  readonly disable = (): boolean => true;
}

it('show the delays of the last minute that is over, however long the process was well before and whoever looks', async () => {
  const registry = new MetricRegistry();
  const delays = new Delays();
  const metrics = new ProcessMetrics(registry, delays);
  const shown = async (): Promise<readonly number[]> =>
    Array.from((await registry.render()).matchAll(/^cep_loop_delay_seconds\{.*\} (.*)$/gm), ([, value]) => Number(value));
  delays.add(100_000, 0.01);
  expect(await shown()).toEqual([0.01, 0.01, 0.01, 0.01]);
  vi.advanceTimersByTime(60_000);
  delays.add(90, 0.01);
  delays.add(10, 0.6);
  expect(await shown()).toEqual([0.01, 0.01, 0.01, 0.01]);
  vi.advanceTimersByTime(60_000);
  for (let look = 0; look < 2; look++) expect(await shown()).toEqual([0.01, 0.01, 0.6, 0.6]);
  delays.add(100, 0.01);
  vi.advanceTimersByTime(60_000);
  expect(await shown()).toEqual([0.01, 0.01, 0.01, 0.01]);
  metrics.close();
  expect(vi.getTimerCount()).toBe(0);
});
