import type { Placement } from '../state/cluster-state.ts';
import type { View } from './view.ts';

export interface Move {
  readonly placementId: string;
  readonly targetWorker: string;
}

interface Load {
  readonly id: string;
  /** Placements that it has once all moves are done. */
  load: number;
  /** Those that it may yet be given; what is to leave it has not left. */
  room: number;
  readonly movable: Placement[];
}

/** Moves after which no ready worker has two pipelines more than another that has room, as few as that takes. What moves already counts as moved. */
export function imbalance({ state, isOver }: Pick<View, 'state' | 'isOver'>): readonly Move[] {
  const open = [...state.migrations.values()].filter(({ status }) => status === 'started' || status === 'moved');
  const moving = new Map(open.map((migration) => [migration.placementId, migration]));
  const loads = new Map<string, Load>();
  for (const worker of state.workers.values()) {
    const { id, status, pipelinesMax } = worker;
    if (status !== 'ready' || isOver(worker)) continue;
    loads.set(id, { id, load: 0, room: pipelinesMax === 0 ? Number.POSITIVE_INFINITY : pipelinesMax, movable: [] });
  }
  for (const placement of state.placements.values()) {
    const { workerId = '', id, status, leavingVersion } = placement;
    const [here, migration] = [loads.get(workerId), moving.get(id)];
    if (here) here.room--;
    const there = migration?.status === 'started' ? loads.get(migration.targetWorker) : undefined;
    if (there) there.room--;
    const holder = there ?? here;
    if (holder) holder.load++;
    if (here && !migration && leavingVersion === undefined && (status === 'running' || status === 'degraded')) here.movable.push(placement);
  }
  const moves: Move[] = [];
  for (;;) {
    const all = [...loads.values()];
    const least = all
      .filter(({ room }) => room > 0)
      .reduce<Load | undefined>((best, one) => (best && best.load <= one.load ? best : one), undefined);
    const most = all
      .filter(({ movable }) => movable.length > 0)
      .reduce<Load | undefined>((best, one) => (best && best.load >= one.load ? best : one), undefined);
    const placement = least && most && most.load - least.load > 1 ? most.movable.pop() : undefined;
    if (!placement || !least || !most) return moves;
    most.load--;
    least.load++;
    least.room--;
    moves.push({ placementId: placement.id, targetWorker: least.id });
  }
}
