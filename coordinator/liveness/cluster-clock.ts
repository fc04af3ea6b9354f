import { RemoteClock } from '../../shared/clock/remote-clock.ts';
import { ProcessMap, type WorkerProcess } from './process-map.ts';

export interface ClusterClockOptions {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Epoch ms, by the clock of this machine. */
  readonly clock: () => number;
}

/** The time is found once for all who ask within so long: that takes as long as there are workers. */
const KEPT_MS = 50;

interface Kept {
  readonly untilMs: number;
  /** By how much the time in the cluster is ahead of the monotonic clock. */
  readonly baseMs: number;
}

/**
 * What time it is in the cluster: the middle of the clocks of its workers and of the member that leads, as heartbeats show them. One
 * clock that was set wrong, its own or a worker's, does not move it.
 */
export class ClusterClock {
  readonly #options: ClusterClockOptions;
  readonly #clocks = new ProcessMap<RemoteClock>();
  #kept: Kept | undefined;

  constructor(options: ClusterClockOptions) {
    this.#options = options;
  }

  /** @param shownMs Epoch ms, by the clock of the worker. @param atMs Monotonic. */
  heard(process: WorkerProcess, shownMs: number, atMs: number): void {
    const clock = this.#clocks.get(process) ?? new RemoteClock();
    clock.heard(shownMs, atMs);
    this.#clocks.set(process, clock);
  }

  /**
   * Epoch ms; undefined while less than half of the workers were heard: the middle of few may be wrong. `workersNow`: those that are there, and
   * not those of which nothing is left but their names.
   */
  time(workersNow: () => readonly WorkerProcess[]): number | undefined {
    const atMs = this.#options.now();
    if (this.#kept === undefined || atMs >= this.#kept.untilMs) {
      const workers = workersNow();
      const bases = this.#basesOf(workers);
      const isKnown = bases.length * 2 >= workers.length;
      this.#kept = isKnown ? { untilMs: atMs + KEPT_MS, baseMs: this.#middle(bases) } : undefined;
    }
    return this.#kept && Math.round(this.#kept.baseMs + atMs);
  }

  /** By how much the clock of each worker that was heard is ahead of the cluster's, ms. */
  aheadMs(workers: readonly WorkerProcess[]): ReadonlyMap<string, number> {
    const middle = this.#middle(this.#basesOf(workers));
    const ahead = new Map<string, number>();
    for (const one of workers) {
      const baseMs = this.#clocks.get(one)?.baseMs;
      if (baseMs !== undefined) ahead.set(one.id, Math.round(baseMs - middle));
    }
    return ahead;
  }

  /** Processes that are gone for good are not remembered. */
  forgetOthers(known: readonly WorkerProcess[]): void {
    this.#clocks.keep(known);
  }

  #basesOf(workers: readonly WorkerProcess[]): number[] {
    const bases: number[] = [];
    for (const one of workers) {
      const baseMs = this.#clocks.get(one)?.baseMs;
      if (baseMs !== undefined) bases.push(baseMs);
    }
    return bases;
  }

  /** With this member's own; of two in the middle, the one that is nearer to it. */
  #middle(others: readonly number[]): number {
    const own = this.#options.clock() - this.#options.now();
    const all = Float64Array.of(own, ...others).sort();
    const [low, high] = [all[(all.length - 1) >> 1] as number, all[all.length >> 1] as number];
    return Math.abs(low - own) <= Math.abs(high - own) ? low : high;
  }
}
