import type { ClusterState } from '../state/cluster-state.ts';

export interface GroupTimeOptions {
  readonly replica: { readonly state: Pick<ClusterState, 'nowMs'>; onChange(listener: () => void): unknown };
  /** What time it is in the cluster, epoch ms; undefined while too few clocks are known. */
  readonly clusterTime: () => number | undefined;
  /** Epoch ms, by the clock of this machine, which may be set, forward and back. */
  readonly clock: () => number;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/** How fast the time of the group goes on while it is ahead of the clock, so that the clock catches up. */
const AHEAD_RATE = 0.5;

/**
 * The time that a leader gives its proposals, which is what sessions of clients end by. In the group time never goes back. So if a clock was
 * ahead once, the group is too, by as much; time would stand still until the clock gets there, in a year perhaps, and no session would end
 * and leave room for others. It goes on meanwhile, at half its speed.
 *
 * Who has just become the leader has heard of no clock but its own, and if that is wrong, sessions would end whose clients are still there. So
 * the time goes on from what the log said last.
 */
export class GroupTime {
  readonly #options: GroupTimeOptions;
  /** The latest time that was known, and when. */
  #latestMs = 0;
  #latestAtMs = 0;

  constructor(options: GroupTimeOptions) {
    this.#options = options;
    const { replica, now } = options;
    replica.onChange(() => {
      if (replica.state.nowMs > this.#latestMs) this.#goOnFrom(replica.state.nowMs, now());
    });
  }

  /** Of the next proposal. Epoch ms, whole. */
  next(): number {
    const { replica, clusterTime, clock, now } = this.#options;
    const atMs = now();
    const { nowMs } = replica.state;
    const known = clusterTime() ?? (nowMs === 0 ? clock() : undefined);
    const passedMs = atMs - this.#latestAtMs;
    const onward = this.#latestMs === 0 ? 0 : this.#latestMs + passedMs * (known === undefined ? 1 : AHEAD_RATE);
    this.#goOnFrom(Math.max(known ?? 0, nowMs, onward), atMs);
    return Math.floor(this.#latestMs);
  }

  /** What time it is now, as well as this member can tell. Epoch ms, whole. */
  present(): number {
    const { clusterTime, clock, now } = this.#options;
    return clusterTime() ?? Math.floor(Math.max(clock(), this.#latestMs + now() - this.#latestAtMs));
  }

  #goOnFrom(ms: number, atMs: number): void {
    this.#latestMs = ms;
    this.#latestAtMs = atMs;
  }
}
