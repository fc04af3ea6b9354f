import type { Migration, Placement, Worker } from '../state/cluster-state.ts';
import { isOwed } from '../state/queries.ts';
import { type Action, placementKey, release } from './action.ts';
import { leaveActions, overdueActions } from './leaving-actions.ts';
import { migrationActions } from './migration-actions.ts';
import type { Targets } from './targets.ts';
import type { Observed, View } from './view.ts';

/** What one pass over the placements works with. */
export interface Pass {
  readonly view: View;
  readonly targets: Targets;
  /** Migrations that are under way, by placement. */
  readonly migrations: ReadonlyMap<string, Migration>;
  /** How many of them lead away from each worker. */
  readonly leaving: Map<string, number>;
}

/** Placements that leave a worker at a time while it is drained: several together would make each other’s pause longer. */
const LEAVING_MAX = 1;

/** What is to be done for one placement; nothing when it is as it should be, or has to be waited for. */
export function placementActions(pass: Pass, placement: Placement): readonly Action[] {
  const { view, migrations } = pass;
  const overdue = overdueActions(view, placement);
  if (overdue) return overdue;
  if (placement.workerId === undefined) return pendingActions(pass, placement);
  const worker = view.state.workers.get(placement.workerId);
  if (worker === undefined || worker.status === 'removed') return [release(placement)];
  const migration = migrations.get(placement.id);
  if (migration) return migrationActions(view, { migration, placement, worker });
  if (view.isOver(worker)) return view.mayBeReplaced(worker) ? replacementActions(pass, placement) : [];
  if (placement.status === 'failed') {
    // Another worker may be able to, or this one later; what is left of it here, an older program perhaps, is to stop first.
    const mayGo = view.isDue(`retry ${placement.id}`) || worker.status === 'draining';
    if (!mayGo || !view.isDue(`stop ${placement.id}`)) return [];
    const { id: workerId, address, incarnation } = worker;
    return [{ key: placementKey(placement.id), kind: 'stop', holder: { workerId, address, incarnation }, placement }];
  }
  return heldActions(pass, placement, worker);
}

function pendingActions({ view, targets }: Pass, placement: Placement): readonly Action[] {
  const { id, formerHolder } = placement;
  const key = placementKey(id);
  if (formerHolder && !view.isOver({ id: formerHolder.workerId, incarnation: formerHolder.incarnation })) {
    return view.isDue(`stop ${id}`) ? [{ key, kind: 'stop', holder: formerHolder, placement }] : [];
  }
  if (!view.isDue(`retry ${id}`) || mayRunAsBefore(view, placement)) return [];
  const workerId = targets.choose(placement);
  return workerId === undefined ? [] : [{ key, kind: 'propose', command: { type: 'AssignPlacement', payload: { id, workerId } } }];
}

/**
 * It was never placed, but may have been taken out of its group and put in again: whoever still has what was there lets it go first, or its
 * lease ends. So does that of a worker which this leader has not heard of.
 */
function mayRunAsBefore(view: View, { id, groupId, epoch }: Placement): boolean {
  if (epoch > 0 || view.state.groups.get(groupId)?.version === 1) return false;
  return [...view.state.workers.values()].some((worker) => !view.isOver(worker) && view.held(worker)?.has(id) !== false);
}

/** Its worker is gone. */
function replacementActions({ targets }: Pass, placement: Placement): readonly Action[] {
  const { id, workerId: lost } = placement;
  const workerId = targets.choose(placement, lost);
  if (workerId === undefined) return [release(placement)];
  return [{ key: placementKey(id), kind: 'propose', command: { type: 'AssignPlacement', payload: { id, workerId } } }];
}

function heldActions(pass: Pass, placement: Placement, worker: Worker): readonly Action[] {
  const { view } = pass;
  const held = view.held(worker);
  const key = placementKey(placement.id);
  const put: Action = { key, kind: 'put', worker, placement };
  const observed = held?.get(placement.id);
  // It has stopped there, and goes on from what has counted by the time of its next epoch, wherever that is.
  if (observed?.epoch === placement.epoch && observed.status === 'fenced') return [release(placement)];
  if (observed?.epoch !== placement.epoch) {
    // Before its first heartbeat to this leader it is not known what a worker has; what was only just assigned it does not have yet. Nor is it
    // known whether it can begin with a program of before, or be told when the placement came, as whoever begins from nothing is: the next
    // one that does says the same under the same ids.
    const isNew = placement.status === 'assigned' && view.state.manifests.has(placement.id);
    const isUnknown = held === undefined && (!isNew || placement.formerProgram !== undefined);
    return isUnknown || !view.isDue(`put ${placement.id}`) ? [] : [put];
  }
  if (observed.status === 'closed') {
    // Of a migration that has failed: what leaves is closed for that only when it has done what it was given.
    return placement.leavingVersion === undefined || isOwed(view.state, placement.id)
      ? [{ key, kind: 'reopen', worker, placement }]
      : leaveActions(view, placement, { worker, put: undefined });
  }
  if (observed.status === 'starting') return [];
  // What it says of itself is of the program that it has, which may be the one before.
  const isAsWanted = observed.revision === view.revisionOf(placement);
  const reported = isAsWanted || observed.status === 'failed' ? reportActions(placement, observed) : [];
  if (reported.length > 0 || observed.status === 'failed') return reported;
  const told = !isAsWanted && view.isDue(`put ${placement.id}`) ? put : undefined;
  if (placement.leavingVersion !== undefined) return leaveActions(view, placement, { worker, put: told });
  if (!isAsWanted) return told ? [told] : [];
  return worker.status === 'draining' ? leavingActions(pass, placement, worker) : [];
}

function reportActions({ id, epoch, status, error }: Placement, observed: Observed): readonly Action[] {
  const now = observed.status as 'running' | 'degraded' | 'failed';
  if (now === status && (observed.error ?? '') === (error ?? '')) return [];
  const why = observed.error === undefined ? {} : { error: observed.error.slice(0, 4_096) };
  return [{ key: placementKey(id), kind: 'propose', command: { type: 'ReportPlacement', payload: { id, epoch, status: now, ...why } } }];
}

function leavingActions({ view, targets, leaving }: Pass, placement: Placement, worker: Worker): readonly Action[] {
  const underWay = leaving.get(worker.id) ?? 0;
  if (underWay >= LEAVING_MAX || !view.isDue(`migrate ${placement.id}`)) return [];
  const targetWorker = targets.choose(placement, worker.id);
  if (targetWorker === undefined) return [];
  leaving.set(worker.id, underWay + 1);
  const payload = { placementId: placement.id, targetWorker };
  return [{ key: placementKey(placement.id), kind: 'propose', command: { type: 'StartMigration', payload } }];
}
