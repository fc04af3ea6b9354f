import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import type { Controller } from '../reconcile/controller.ts';
import { workersOf } from '../state/queries.ts';
import type { ClusterClock } from './cluster-clock.ts';

/** A clock that is wrong by more is told. */
const WRONG_MS = 1_000;
/** How often all clocks are compared: a look at how things are may follow the one before at once. */
const COMPARE_MS = 1_000;

export interface ClockWatchOptions {
  readonly group: Pick<GroupMember, 'state'>;
  readonly controller: Pick<Controller, 'isLeading' | 'onLook'>;
  readonly clusterClock: ClusterClock;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly telemetry: Telemetry;
}

/** Says which workers have a wrong clock, as the member that leads sees it. */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  /** Of those that were told. */
  readonly #wrong = new Set<string>();
  #comparedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    options.controller.onLook(() => this.#look());
    options.telemetry.metrics.collect('cep_cluster_worker_clock_ahead_seconds', () => this.#series());
  }

  #look(): void {
    const { group, clusterClock, now, telemetry } = this.#options;
    const atMs = now();
    if (atMs - this.#comparedMs < COMPARE_MS) return;
    this.#comparedMs = atMs;
    const workers = workersOf(group.state);
    clusterClock.forgetOthers(workers);
    for (const [id, aheadMs] of clusterClock.aheadMs(workers)) {
      const isWrong = Math.abs(aheadMs) > WRONG_MS;
      if (isWrong && !this.#wrong.has(id)) telemetry.report('WorkerClockWrong', { worker: id, aheadSeconds: aheadMs / 1_000 });
      if (isWrong) this.#wrong.add(id);
      else this.#wrong.delete(id);
    }
  }

  #series(): { labels: string[]; value: number }[] {
    const { group, controller, clusterClock } = this.#options;
    if (!controller.isLeading) return [];
    return Array.from(clusterClock.aheadMs(workersOf(group.state)), ([id, aheadMs]) => ({ labels: [id], value: aheadMs / 1_000 }));
  }
}
