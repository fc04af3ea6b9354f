import type { Static } from 'typebox';
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

/** Who runs what, and what goes from where to where. */
export function topologyWire(state: ClusterState): Static<typeof topologySchema> {
  const groups = groupsOf(state);
  const deployments = (group: Group) =>
    placementsOf(state, group).map(({ pipeline: name, workerId, replica }) => ({ name, worker_id: workerId ?? null, replica }));
  return {
    workers: workersOf(state).map(({ id, address, status }) => {
      const own = groups.filter((group) => placementsOf(state, group).some(({ workerId }) => workerId === id));
      return { id, address, status, pipeline_groups: own.map(({ name }) => name) };
    }),
    groups: groups.map((group) => ({ id: group.id, name: group.name, pipelines: deployments(group), routes: routesWire(group) })),
    routes: groups.flatMap((group) => {
      const at = (pipeline: string): (string | null)[] => {
        const found = deployments(group).filter(({ name }) => name === pipeline);
        return found.length === 0 ? [null] : found.map(({ worker_id }) => worker_id);
      };
      return group.routes.flatMap(({ fromPipeline, toPipeline, eventTypes }) =>
        at(fromPipeline).flatMap((source) =>
          at(toPipeline).map((target) => {
            const ends = { source_worker: source, source_pipeline: fromPipeline, target_worker: target, target_pipeline: toPipeline };
            return { ...ends, event_types: [...eventTypes] };
          }),
        ),
      );
    }),
  };
}
