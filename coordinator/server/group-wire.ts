import type { Static } from 'typebox';
import { limits } from '../../shared/limits.ts';
import type { groupSchema, migrationSchema, topologySchema } from '../../shared/protocol/cluster.ts';
import { placedPipelineId } from '../../shared/protocol/placements.ts';
import type { ClusterState, Group, Migration, Placement } from '../state/cluster-state.ts';
import { groupsOf, placementsOf, workersOf } from '../state/queries.ts';

type GroupWire = Static<typeof groupSchema>;

export function groupWire(state: ClusterState, group: Group): GroupWire {
  const { id, name, version, createdAtMs, updatedAtMs } = group;
  const placements = placementsOf(state, group);
  return {
    ...{ id, name, status: groupStatus(group, placements), version, created_at: createdAtMs, updated_at: updatedAtMs },
    pipelines: group.pipelines.map(({ name, source, replicas, workerAffinity, partitionKey }) => ({
      ...{ name, source, replicas },
      ...(workerAffinity === undefined ? {} : { worker_affinity: workerAffinity }),
      ...(partitionKey === undefined ? {} : { partition_key: partitionKey }),
    })),
    routes: routesWire(group),
    deployments: placements.map((placement) => deploymentWire(state, placement)),
  };
}

/** What a route has beside its names. */
const ROUTE_ROW_CHARS = 100;
/** What one deployment has beside its names. */
const DEPLOYMENT_CHARS = 250;

/** About how long the text of what is shown of a group is. */
export function groupChars(state: ClusterState, group: Group): number {
  let chars = 0;
  for (const { name, source } of group.pipelines) chars += name.length + source.length;
  for (const { fromPipeline, toPipeline, eventTypes } of group.routes) {
    chars += ROUTE_ROW_CHARS + fromPipeline.length + toPipeline.length + charsIn(eventTypes);
  }
  for (const { pipeline, workerId = '', error = '' } of placementsOf(state, group)) {
    const address = state.workers.get(workerId)?.address ?? '';
    chars += DEPLOYMENT_CHARS + 2 * pipeline.length + workerId.length + address.length + error.length;
  }
  return chars;
}

/** Of all its placements together. */
export function groupStatus({ isDraining }: Group, placements: readonly Placement[]): GroupWire['status'] {
  if (isDraining) return 'draining';
  const all = placements.map(({ status }) => status);
  if (all.every((status) => status === 'running')) return 'running';
  if (all.every((status) => status === 'failed')) return 'failed';
  if (all.some((status) => status === 'failed' || status === 'degraded')) return 'degraded';
  // What waits anew for a worker had one before.
  return placements.some(({ status, epoch }) => status === 'pending' && epoch > 0) ? 'degraded' : 'deploying';
}

function deploymentWire({ workers }: ClusterState, placement: Placement): GroupWire['deployments'][number] {
  const { workerId, pipeline, replica, status, epoch, error } = placement;
  const worker = workerId === undefined ? undefined : workers.get(workerId);
  return {
    ...{ worker_id: workerId ?? null, worker_address: worker?.address ?? null, pipeline_name: pipeline },
    ...{ pipeline_id: workerId === undefined ? null : placedPipelineId(placement.id), replica, status, epoch },
    ...(error === undefined ? {} : { error }),
  };
}

function routesWire({ routes }: Group): GroupWire['routes'] {
  return routes.map(({ fromPipeline, toPipeline, eventTypes }) => {
    return { from_pipeline: fromPipeline, to_pipeline: toPipeline, event_types: [...eventTypes] };
  });
}

export function migrationWire({ groups, placements }: ClusterState, migration: Migration): Static<typeof migrationSchema> {
  const { id, placementId, sourceWorker, targetWorker, status, epoch, error } = migration;
  const placement = placements.get(placementId);
  const group = placement && groups.get(placement.groupId);
  return {
    ...{ id, group: group?.name ?? '', pipeline: placement?.pipeline ?? '', replica: placement?.replica ?? 0 },
    ...{ source_worker: sourceWorker, target_worker: targetWorker, status, epoch },
    ...(error === undefined ? {} : { error }),
  };
}

type TopologyWire = Static<typeof topologySchema>;
type RouteRow = TopologyWire['routes'][number];

/** Who runs what, and what goes from where to where: replicas at one worker are one end of a route. */
export function topologyWire(state: ClusterState): TopologyWire {
  const groups = groupsOf(state).map((group) => ({ group, placements: placementsOf(state, group) }));
  const groupsAt = new Map<string, Set<string>>();
  for (const { group, placements } of groups) {
    for (const { workerId } of placements) if (workerId !== undefined) entryOf(groupsAt, workerId).add(group.name);
  }
  const { rows, omitted } = routeRows(groups);
  return {
    workers: workersOf(state).map(({ id, address, status }) => ({ id, address, status, pipeline_groups: [...(groupsAt.get(id) ?? [])] })),
    groups: groups.map(({ group, placements }) => ({
      id: group.id,
      name: group.name,
      pipelines: placements.map(({ pipeline: name, workerId, replica }) => ({ name, worker_id: workerId ?? null, replica })),
      routes: routesWire(group),
    })),
    routes: rows,
    ...(omitted > 0 && { routes_omitted: omitted }),
  };
}

interface Placed {
  readonly group: Group;
  readonly placements: readonly Placement[];
}

/** Each route between each two workers, as many as fit. */
function routeRows(groups: readonly Placed[]): { readonly rows: RouteRow[]; readonly omitted: number } {
  const rows: RouteRow[] = [];
  let chars = 0;
  let omitted = 0;
  for (const { group, placements } of groups) {
    const workersAt = new Map<string, Set<string | null>>();
    for (const { pipeline, workerId } of placements) entryOf(workersAt, pipeline).add(workerId ?? null);
    const nowhere: ReadonlySet<string | null> = new Set([null]);
    for (const { fromPipeline, toPipeline, eventTypes } of group.routes) {
      const [sources, targets] = [workersAt.get(fromPipeline) ?? nowhere, workersAt.get(toPipeline) ?? nowhere];
      const types = [...eventTypes];
      const fixed = ROUTE_ROW_CHARS + fromPipeline.length + toPipeline.length + charsIn(types);
      let left = sources.size * targets.size;
      for (const source of sources) {
        for (const target of targets) {
          chars += fixed + (source?.length ?? 0) + (target?.length ?? 0);
          if (chars > limits.topologyRouteCharsMax) break;
          left--;
          const ends = { source_worker: source, source_pipeline: fromPipeline, target_worker: target, target_pipeline: toPipeline };
          rows.push({ ...ends, event_types: types });
        }
        if (chars > limits.topologyRouteCharsMax) break;
      }
      omitted += left;
    }
  }
  return { rows, omitted };
}

function charsIn(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length + 3, 0);
}

function entryOf<V>(map: Map<string, Set<V>>, key: string): Set<V> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Set<V>();
  map.set(key, made);
  return made;
}
