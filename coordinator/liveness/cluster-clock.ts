import { RemoteClock } from '../../shared/clock/remote-clock.ts';
import { keyOf, type WorkerProcess } from './worker-leases.ts';

export interface ClusterClockOptions {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Epoch ms, by the clock of this machine. */
  readonly clock: () => number;
}

/**
 * What time it is in the cluster: the middle of the clocks of its workers and of the member that leads, as heartbeats show them. One
 * clock that was set wrong, its own or a worker's, does not move it.
 */
export class ClusterClock {
  readonly #options: ClusterClockOptions;
  readonly #clocks = new Map<string, RemoteClock>();

  constructor(options: ClusterClockOptions) {
    this.#options = options;
  }

  /** @param shownMs Epoch ms, by the clock of the worker. @param atMs Monotonic. */
  heard(process: WorkerProcess, shownMs: number, atMs: number): void {
    const key = keyOf(process);
    const clock = this.#clocks.get(key) ?? new RemoteClock();
    clock.heard(shownMs, atMs);
    this.#clocks.set(key, clock);
  }

  /** Epoch ms; undefined while less than half of the workers were heard: the middle of few may be wrong. */
  time(workers: readonly WorkerProcess[]): number | undefined {
    const bases = this.#basesOf(workers);
    return bases.length * 2 < workers.length ? undefined : Math.round(this.#middle(bases) + this.#options.now());
  }

  /** By how much the clock of each worker that was heard is ahead of the cluster's, ms. */
  aheadMs(workers: readonly WorkerProcess[]): ReadonlyMap<string, number> {
    const middle = this.#middle(this.#basesOf(workers));
    const ahead = new Map<string, number>();
    for (const one of workers) {
      const baseMs = this.#clocks.get(keyOf(one))?.baseMs;
      if (baseMs !== undefined) ahead.set(one.id, Math.round(baseMs - middle));
    }
    return ahead;
  }

  /** Processes that are gone for good are not remembered. */
  forget(known: ReadonlySet<string>): void {
    for (const key of this.#clocks.keys()) if (!known.has(key)) this.#clocks.delete(key);
  }

  #basesOf(workers: readonly WorkerProcess[]): number[] {
    return workers.flatMap((one) => this.#clocks.get(keyOf(one))?.baseMs ?? []);
  }

  /** With this member's own; of two in the middle, the one that is nearer to it. */
  #middle(others: readonly number[]): number {
    const own = this.#options.clock() - this.#options.now();
    const all = [own, ...others].sort((a, b) => a - b);
    const [low, high] = [all[(all.length - 1) >> 1] as number, all[all.length >> 1] as number];
    return Math.abs(low - own) <= Math.abs(high - own) ? low : high;
  }
}
