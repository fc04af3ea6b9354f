export type PlacementStrategy = 'least-loaded' | 'round-robin';

/** A worker that takes pipelines. */
export interface Candidate {
  readonly id: string;
  /** Placements that it has. */
  readonly load: number;
  /** 0: no limit. */
  readonly capacity: number;
  /** It has another replica of the same pipeline. */
  readonly hasSibling: boolean;
}

export interface Choice {
  readonly strategy: PlacementStrategy;
  /** In the order in which they have registered. */
  readonly candidates: readonly Candidate[];
  /** A worker that is preferred when it has room. */
  readonly affinity?: string | undefined;
  /** How many placements were given away before: round-robin goes on behind the last one. */
  readonly turn: number;
}

/** Which worker is to have a placement; undefined when none has room. Replicas of a pipeline keep apart while that is possible. */
export function chooseWorker({ strategy, candidates, affinity, turn }: Choice): string | undefined {
  const free = candidates.filter(({ load, capacity }) => capacity === 0 || load < capacity);
  const preferred = free.find(({ id }) => id === affinity);
  if (preferred) return preferred.id;
  const apart = free.filter(({ hasSibling }) => !hasSibling);
  const left = apart.length > 0 ? apart : free;
  if (strategy === 'round-robin') return left[turn % left.length]?.id;
  return left.reduce<Candidate | undefined>((best, one) => (best && best.load <= one.load ? best : one), undefined)?.id;
}
