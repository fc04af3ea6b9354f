import type { Migration, Placement, Worker } from '../state/cluster-state.ts';
import { type Action, placementKey } from './action.ts';
import type { Observed, View } from './view.ts';

interface Moving {
  readonly migration: Migration;
  readonly placement: Placement;
  /** That has the placement at the moment. */
  readonly worker: Worker;
}

/**
 * The next step of a placement on its way. Before it has moved the source can go on with it; from then on only the target does. Whoever
 * leads finds in the state how far it is, so a crash at any step leaves exactly one owner.
 */
export function migrationActions(view: View, moving: Moving): readonly Action[] {
  return moving.migration.status === 'started' ? beforeMove(view, moving) : afterMove(view, moving);
}

function beforeMove(view: View, { migration, placement, worker }: Moving): readonly Action[] {
  const target = view.state.workers.get(migration.targetWorker);
  const key = placementKey(placement.id);
  if (placement.epoch !== migration.epoch) return [end(migration, 'failed', 'the pipeline was given to a worker anew meanwhile')];
  if (view.isOver(worker)) return [end(migration, 'failed', `worker '${worker.id}' is lost`)];
  if (target?.status !== 'ready' || view.isOver(target)) {
    return [end(migration, 'failed', `worker '${migration.targetWorker}' does not take it any more`)];
  }
  const observed = view.held(worker)?.get(placement.id);
  const isHeardClosed = observed?.epoch === placement.epoch && observed.status === 'closed';
  if (isHeardClosed && view.isClosed(migration)) {
    return [{ key, kind: 'propose', command: { type: 'MovePlacement', payload: { migrationId: migration.id } } }];
  }
  const prepared = view.prepared(migration);
  // What has stopped already does not wait for the target to be ready.
  if (prepared === undefined && !isHeardClosed) return preparing(view, { migration, placement, worker }, { target, observed });
  if (prepared?.problem !== undefined) return [end(migration, 'failed', `worker '${target.id}' cannot run it: ${prepared.problem}`)];
  // It runs on until every worker was heard, or counts as lost: whoever may go on from the last checkpoint has to read it.
  if (!view.isFormatKnown()) return [];
  if (!view.isDue(`close ${placement.id}`)) return [end(migration, 'failed', `worker '${worker.id}' could not close it`)];
  return [{ key, kind: 'close', worker, placement, migrationId: migration.id }];
}

/** It runs on meanwhile, with what it is to have. */
function preparing(
  view: View,
  { migration, placement, worker }: Moving,
  { target, observed }: { readonly target: Worker; readonly observed: Observed | undefined },
): readonly Action[] {
  const prepare: Action = { key: `prepare ${migration.id}`, kind: 'prepare', worker: target, placement, migrationId: migration.id };
  const isOutdated = observed?.epoch === placement.epoch && observed.revision !== view.revisionOf(placement);
  if (!isOutdated || !view.isDue(`put ${placement.id}`)) return [prepare];
  return [prepare, { key: placementKey(placement.id), kind: 'put', worker, placement }];
}

function afterMove(view: View, { migration, placement, worker }: Moving): readonly Action[] {
  if (placement.epoch !== migration.epoch || view.isOver(worker)) return [end(migration, 'completed')];
  const observed = view.held(worker)?.get(placement.id);
  if (observed?.epoch === placement.epoch) {
    if (observed.status === 'running' || observed.status === 'degraded') return [end(migration, 'completed')];
    if (observed.status === 'failed') return [end(migration, 'completed', observed.error)];
    // Its lease has ended there before it was heard to run: from here on it is as any other that has stopped.
    if (observed.status === 'fenced') return [end(migration, 'completed')];
    if (observed.status === 'starting') return [];
  }
  return view.isDue(`put ${placement.id}`) ? [{ key: placementKey(placement.id), kind: 'put', worker, placement }] : [];
}

function end({ id, placementId }: Migration, status: 'completed' | 'failed', error?: string): Action {
  const payload = { migrationId: id, status, ...(error === undefined ? {} : { error: error.slice(0, 4_096) }) };
  return { key: placementKey(placementId), kind: 'propose', command: { type: 'EndMigration', payload } };
}
