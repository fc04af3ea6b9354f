import type { Migration, Worker } from '../state/cluster-state.ts';
import type { WorkerStatus } from '../state/transitions.ts';
import { type Action, workerKey } from './action.ts';
import { groupLeavingActions } from './leaving-actions.ts';
import { type Pass, placementActions } from './placement-actions.ts';
import { Targets } from './targets.ts';
import type { View } from './view.ts';

/** Everything that is to be done now so that things become as they are wanted. Follows from its argument alone. */
export function plan(view: View): readonly Action[] {
  const { workers, placements, groups } = view.state;
  const pass: Pass = { view, targets: new Targets(view), ...migrationsUnderWay(view) };
  const actions: Action[] = [];
  for (const worker of workers.values()) actions.push(...workerActions(view, worker));
  for (const placement of placements.values()) {
    if (groups.get(placement.groupId)?.isDraining === false) actions.push(...placementActions(pass, placement));
  }
  for (const group of groups.values()) if (group.isDraining) actions.push(...groupLeavingActions(view, group));
  return actions;
}

function migrationsUnderWay({ state }: View): Pick<Pass, 'migrations' | 'leaving'> {
  const migrations = new Map<string, Migration>();
  const leaving = new Map<string, number>();
  for (const migration of state.migrations.values()) {
    if (migration.status !== 'started' && migration.status !== 'moved') continue;
    migrations.set(migration.placementId, migration);
    leaving.set(migration.sourceWorker, (leaving.get(migration.sourceWorker) ?? 0) + 1);
  }
  return { migrations, leaving };
}

function workerActions(view: View, worker: Worker): readonly Action[] {
  if (worker.status === 'removed') return [];
  const next = nextStatus(view, worker);
  const strays = strayActions(view, worker);
  if (next === undefined) return strays;
  const { id, incarnation } = worker;
  return [
    { key: workerKey(id), kind: 'propose', command: { type: 'SetWorkerStatus', payload: { id, incarnation, status: next } } },
    ...strays,
  ];
}

function nextStatus(view: View, worker: Worker): WorkerStatus | undefined {
  const isOver = view.isOver(worker);
  switch (worker.status) {
    case 'registering':
    case 'unhealthy':
      if (!isOver && view.held(worker)) return 'ready';
      if (isOver && worker.status === 'registering') return 'unhealthy';
      return view.isForgotten(worker) && !hasPlacements(view, worker) ? 'removed' : undefined;
    case 'ready':
      return isOver ? 'unhealthy' : undefined;
    case 'draining':
      return hasPlacements(view, worker) ? undefined : 'drained';
    case 'drained':
      return view.isForgotten(worker) ? 'removed' : undefined;
    default:
      return undefined;
  }
}

function hasPlacements({ state }: View, { id }: Worker): boolean {
  for (const { workerId } of state.placements.values()) if (workerId === id) return true;
  return false;
}

/** What a worker has and should not have. */
function strayActions(view: View, worker: Worker): readonly Action[] {
  const held = view.held(worker);
  if (held === undefined || held.size === 0 || view.isOver(worker)) return [];
  const actions: Action[] = [];
  for (const [placementId, { epoch }] of held) {
    const placement = view.state.placements.get(placementId);
    if (placement?.workerId === worker.id) continue;
    const key = `stray ${worker.id} ${placementId}`;
    if (view.isDue(key)) actions.push({ key, kind: 'delete', worker, placementId, epoch, isForGood: placement === undefined });
  }
  return actions;
}
