import type { ClusterState } from '../state/cluster-state.ts';

export interface GroupTimeOptions {
  readonly replica: { readonly state: Pick<ClusterState, 'nowMs'> };
  /** Epoch ms; it may be set, forward and back. */
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
 */
export class GroupTime {
  readonly #options: GroupTimeOptions;
  /** The latest time that was known, and when. */
  #latestMs = 0;
  #latestAtMs = 0;

  constructor(options: GroupTimeOptions) {
    this.#options = options;
  }

  /** Epoch ms, whole. */
  next(): number {
    const { replica, clock, now } = this.#options;
    const atMs = now();
    const onward = this.#latestMs + (atMs - this.#latestAtMs) * AHEAD_RATE;
    this.#latestMs = Math.max(clock(), replica.state.nowMs, onward);
    this.#latestAtMs = atMs;
    return Math.floor(this.#latestMs);
  }
}
