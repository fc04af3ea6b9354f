import type { Placement } from '../state/cluster-state.ts';
import type { View } from './view.ts';

export interface Move {
  readonly placementId: string;
  readonly targetWorker: string;
}

/** Moves after which no ready worker has two pipelines more than another, as few as that takes. */
export function imbalance({ state, isOver }: View): readonly Move[] {
  const moving = new Set(
    Array.from(state.migrations.values())
      .filter(({ status }) => status === 'started' || status === 'moved')
      .map(({ placementId }) => placementId),
  );
  const ready = [...state.workers.values()].filter((worker) => worker.status === 'ready' && !isOver(worker));
  const movable = new Map<string, Placement[]>(ready.map(({ id }) => [id, []]));
  const loads = new Map(ready.map(({ id }) => [id, 0]));
  for (const placement of state.placements.values()) {
    const { workerId = '', id, status } = placement;
    if (!loads.has(workerId)) continue;
    loads.set(workerId, (loads.get(workerId) ?? 0) + 1);
    if (!moving.has(id) && (status === 'running' || status === 'degraded')) movable.get(workerId)?.push(placement);
  }
  const moves: Move[] = [];
  for (;;) {
    const [least, most] = extremes(loads);
    const placement = least && most && most.load - least.load > 1 ? movable.get(most.id)?.pop() : undefined;
    if (!placement || !least || !most) return moves;
    loads.set(most.id, most.load - 1);
    loads.set(least.id, least.load + 1);
    moves.push({ placementId: placement.id, targetWorker: least.id });
  }
}

interface Load {
  readonly id: string;
  readonly load: number;
}

function extremes(loads: ReadonlyMap<string, number>): readonly [least: Load | undefined, most: Load | undefined] {
  const sorted = Array.from(loads, ([id, load]) => ({ id, load })).sort((a, b) => a.load - b.load);
  return [sorted[0], sorted.at(-1)];
}
