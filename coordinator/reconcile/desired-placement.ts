import type { Static } from 'typebox';
import { crc32c } from '../../shared/checksum/crc32c.ts';
import type { manifestSchema } from '../../shared/protocol/placements.ts';
import type { ClusterState, Group, GroupPipeline, Manifest, Placement, Worker } from '../state/cluster-state.ts';
import { placementId } from '../state/cluster-state.ts';
import { connectorsOf } from '../state/queries.ts';
import type { PlacementRequest } from '../workers-client/worker-client.ts';

type Wanted = Omit<
  PlacementRequest,
  'epoch' | 'tenure' | 'created_index' | 'revision' | 'former_source' | 'checkpoint' | 'connectors' | 'ingress_sequence'
>;

interface Told {
  /** When the placement came. */
  readonly hasCreation: boolean;
  /** Of which program its state is. */
  readonly hasFormer: boolean;
}

/** What the worker of a placement is to have; undefined when its group or pipeline is gone. */
export function placementRequest(
  state: ClusterState,
  placement: Placement,
  { hasCreation, hasFormer }: Told,
): PlacementRequest | undefined {
  const wanted = wantedOf(state, placement);
  if (wanted === undefined) return undefined;
  const newest = state.manifests.get(placement.id)?.at(-1);
  const { groupId, formerProgram } = placement;
  const former = formerProgram === undefined ? undefined : state.groups.get(groupId)?.formerPrograms?.[formerProgram];
  return {
    ...wanted,
    epoch: placement.epoch,
    tenure: placement.tenure,
    ...(hasCreation && placement.createdIndex !== undefined && { created_index: placement.createdIndex }),
    ...(hasFormer && former !== undefined && { former_source: former }),
    revision: revisionOf(wanted),
    connectors: connectorsOf(state).map(({ name, type, parameters }) => ({ name, connector_type: type, params: { ...parameters } })),
    ...(newest === undefined ? {} : { checkpoint: manifestWire(newest) }),
    ingress_sequence: state.ingressLogs.get(placement.id)?.last ?? 0,
  };
}

/**
 * Another one means that its worker is to be told anew; a new checkpoint, or a connector that was changed, does not. It follows from the
 * placement's names, its group, and `routeTargets`.
 */
export function desiredRevision(state: ClusterState, placement: Placement): string {
  const wanted = wantedOf(state, placement);
  return wanted === undefined ? '' : revisionOf(wanted);
}

/** As it goes over the wire. */
export function manifestWire({ sequence, epoch, bytes, checksum, locations, received }: Manifest): Static<typeof manifestSchema> {
  return { sequence, epoch, bytes, checksum, locations: [...locations], received: { ...received } };
}

function revisionOf(wanted: Wanted): string {
  const text = JSON.stringify(wanted);
  return `${text.length.toString(36)}-${crc32c(Buffer.from(text)).toString(36)}`;
}

function wantedOf(state: ClusterState, { groupId, pipeline: name, replica }: Placement): Wanted | undefined {
  const group = state.groups.get(groupId);
  const pipeline = group?.pipelines.find((one) => one.name === name);
  if (group === undefined || pipeline === undefined) return undefined;
  const { source, replicas, partitionKey } = pipeline;
  return {
    ...{ group: group.name, group_id: group.id, pipeline: name, replica, replicas },
    ...(partitionKey === undefined ? {} : { partition_key: partitionKey }),
    ...{ source, routes: routesFrom(state, group, name) },
  };
}

/** The placements that routes lead to from a pipeline, each with its worker. */
export function routeTargets(
  { placements, workers }: ClusterState,
  group: Group,
  from: string,
): readonly (Placement | Worker | undefined)[] {
  return group.routes.flatMap(({ fromPipeline, toPipeline }) => {
    const to = fromPipeline === from ? group.pipelines.find(({ name }) => name === toPipeline) : undefined;
    return Array.from({ length: to?.replicas ?? 0 }, (_, replica) => placements.get(placementId(group.id, toPipeline, replica))).flatMap(
      (placement) => [placement, placement?.workerId === undefined ? undefined : workers.get(placement.workerId)],
    );
  });
}

function routesFrom(state: ClusterState, group: Group, from: string): PlacementRequest['routes'] {
  return group.routes.flatMap(({ fromPipeline, toPipeline, eventTypes }) => {
    const to = fromPipeline === from ? group.pipelines.find(({ name }) => name === toPipeline) : undefined;
    if (to === undefined) return [];
    const key = to.replicas > 1 && to.partitionKey !== undefined ? { partition_key: to.partitionKey } : {};
    return [{ event_types: [...eventTypes], ...key, targets: targetsOf(state, group, to) }];
  });
}

function targetsOf({ placements, workers }: ClusterState, group: Group, { name, replicas }: GroupPipeline) {
  return Array.from({ length: replicas }, (_, replica) => {
    const id = placementId(group.id, name, replica);
    const placement = placements.get(id);
    const address = placement?.workerId === undefined ? undefined : workers.get(placement.workerId)?.address;
    return { placement_id: id, replica, ...(address === undefined ? {} : { address }), epoch: placement?.epoch ?? 0 };
  });
}
