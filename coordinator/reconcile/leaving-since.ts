import type { ClusterState, Placement } from '../state/cluster-state.ts';

/** Since when this leader knows of placements that they are to leave. The next one waits as long once more. */
export class LeavingSince {
  readonly #now: () => number;
  readonly #known = new Map<string, number>();

  /** @param now Monotonic, ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  ms({ id }: Placement): number {
    const now = this.#now();
    const since = this.#known.get(id) ?? now;
    this.#known.set(id, since);
    return now - since;
  }

  /** Those that have left, or stay after all. */
  forget({ placements, groups }: Pick<ClusterState, 'placements' | 'groups'>): void {
    for (const id of this.#known.keys()) {
      const placement = placements.get(id);
      const isLeaving = placement?.leavingVersion !== undefined || groups.get(placement?.groupId ?? '')?.isDraining;
      if (!isLeaving) this.#known.delete(id);
    }
  }

  clear(): void {
    this.#known.clear();
  }
}
