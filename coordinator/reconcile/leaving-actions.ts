import { type ClusterState, contentOf, type Group, type Placement, placementId, type Worker } from '../state/cluster-state.ts';
import { type Action, placementKey } from './action.ts';
import type { Observed, View } from './view.ts';

/** What cannot do what it was given is let go after that time, and what was given to it is lost. */
const LEAVE_MS_MAX = 600_000;
/** The same where the whole group goes: nobody asks any more for what it would say. */
const GROUP_LEAVE_MS_MAX = 10_000;
/** In which a pipeline does nothing any more of what it was given. */
const endedStatuses: ReadonlySet<Observed['status']> = new Set<Observed['status']>(['failed', 'fenced', 'closed']);

/** A placement that leaves and runs, or has been closed for that. `put`: tells its worker what it is to have, where that is something else. */
export function leaveActions(
  view: View,
  placement: Placement,
  { worker, put }: { worker: Worker; put: Action | undefined },
): readonly Action[] {
  const key = `leave ${placement.id}`;
  const mayLeave = view.isDue(key) && !isFed(view.state, placement) && areOthersTold(view, placement);
  // Its receivers may move meanwhile.
  return [...(put ? [put] : []), ...(mayLeave ? [{ key, kind: 'leave', worker, placement } as const] : [])];
}

/** What leaves and does not get on for very long goes all the same. */
export function overdueActions(view: View, placement: Placement): readonly Action[] | undefined {
  if (placement.leavingVersion === undefined || view.leavingMs(placement) < LEAVE_MS_MAX) return undefined;
  const { id, epoch } = placement;
  return [{ key: placementKey(id), kind: 'propose', command: { type: 'RemovePlacement', payload: { id, epoch } } }];
}

/** A group goes when nothing of it runs any more. */
export function groupLeavingActions(view: View, { id: groupId }: Group): readonly Action[] {
  const { placements, workers } = view.state;
  const actions: Action[] = [];
  const staying = new Set<string>();
  const goOn: (() => void)[] = [];
  for (const placement of placements.values()) {
    const worker = placement.groupId === groupId && placement.workerId !== undefined ? workers.get(placement.workerId) : undefined;
    if (worker === undefined || worker.status === 'removed' || view.isOver(worker)) continue;
    const held = view.held(worker);
    if (held && !held.has(placement.id)) continue;
    staying.add(placement.id);
    const isHeard = held !== undefined;
    goOn.push(() =>
      actions.push(...leavingOfGroupActions(view, placement, { worker, isHeard, observed: held?.get(placement.id), staying })),
    );
  }
  if (staying.size === 0) return [{ key: `group ${groupId}`, kind: 'propose', command: { type: 'DeleteGroup', payload: { id: groupId } } }];
  for (const next of goOn) next();
  return actions;
}

/** Until the replicas that stay take what was its own, of what their sources read too, it does so. */
function areOthersTold(view: View, { groupId, pipeline }: Placement): boolean {
  const { state } = view;
  const replicas = state.groups.get(groupId)?.pipelines.find(({ name }) => name === pipeline)?.replicas ?? 0;
  return Array.from({ length: replicas }, (_, replica) => state.placements.get(placementId(groupId, pipeline, replica))).every((other) => {
    if (other === undefined) return false;
    if (other.status === 'failed') return true;
    const worker = other.workerId === undefined ? undefined : state.workers.get(other.workerId);
    const observed = worker && view.held(worker)?.get(other.id);
    // The epoch says that it was asked, the revision that it does so.
    return observed?.epoch === other.epoch && observed.revision === view.revisionOf(other);
  });
}

interface LeavingOfGroup {
  readonly worker: Worker;
  /** Its worker has told this leader what it has. */
  readonly isHeard: boolean;
  readonly observed: Observed | undefined;
  /** Placements of the group that are still there. */
  readonly staying: ReadonlySet<string>;
}

function leavingOfGroupActions(
  view: View,
  placement: Placement,
  { worker, isHeard, observed, staying }: LeavingOfGroup,
): readonly Action[] {
  const { id, epoch } = placement;
  if (!view.isDue(`put ${id}`)) return [];
  const key = placementKey(id);
  const hasEnded = isHeard && (observed === undefined || endedStatuses.has(observed.status));
  if (hasEnded || view.leavingMs(placement) >= GROUP_LEAVE_MS_MAX) {
    return [{ key, kind: 'delete', worker, placementId: id, epoch, isForGood: true }];
  }
  // What runs at a worker that was not heard may be about to do what it was given.
  if (observed === undefined || observed.status === 'starting') return [];
  // Until it is told of its epoch, it is given nothing under that.
  if (observed.epoch !== epoch) return [{ key, kind: 'put', worker, placement }];
  if (!view.isDue(`leave ${id}`) || isFed(view.state, placement, staying)) return [];
  return [{ key, kind: 'leave', worker, placement }];
}

/**
 * Another one that leaves as well may still send it something, and so goes first; what sends to each other goes together. `among`: the
 * placements that are looked at. @default those that leave
 */
function isFed(state: ClusterState, placement: Placement, among?: ReadonlySet<string>): boolean {
  const group = state.groups.get(placement.groupId);
  if (group === undefined) return false;
  const reached = reachedFrom(group, placement);
  const isLeaving = (other: Placement | undefined): boolean =>
    other !== undefined && (among === undefined ? other.leavingVersion !== undefined : among.has(other.id));
  return [group, ...(group.former ?? [])].some(({ pipelines, routes }) => {
    const from = new Set(routes.filter(({ toPipeline }) => toPipeline === placement.pipeline).map(({ fromPipeline }) => fromPipeline));
    return pipelines.some(({ name, replicas }) => {
      if (!from.has(name) || name === placement.pipeline || reached.has(name)) return false;
      return Array.from({ length: replicas }, (_, replica) => state.placements.get(placementId(group.id, name, replica))).some(isLeaving);
    });
  });
}

function routesOf(group: Group, placement: Placement): Group['routes'] {
  return contentOf(group, placement)?.routes ?? [];
}

/** Pipelines to which something may come that this one makes. */
function reachedFrom(group: Group, placement: Placement): ReadonlySet<string> {
  const routes = [...group.routes, ...routesOf(group, placement)];
  const reached = new Set<string>();
  const next = [placement.pipeline];
  for (let from = next.pop(); from !== undefined; from = next.pop()) {
    for (const { fromPipeline, toPipeline } of routes) {
      if (fromPipeline !== from || reached.has(toPipeline)) continue;
      reached.add(toPipeline);
      next.push(toPipeline);
    }
  }
  return reached;
}
