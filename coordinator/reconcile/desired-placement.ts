import type { Static } from 'typebox';
import { crc32c } from '../../shared/checksum/crc32c.ts';
import type { manifestSchema } from '../../shared/protocol/placements.ts';
import {
  type ClusterState,
  contentOf,
  type FormerContent,
  type Group,
  type Manifest,
  type Placement,
  placementId,
  type Worker,
} from '../state/cluster-state.ts';
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

function wantedOf(state: ClusterState, placement: Placement): Wanted | undefined {
  const { groupId, pipeline: name, replica } = placement;
  const group = state.groups.get(groupId);
  const content = group && contentOf(group, placement);
  const pipeline = content?.pipelines.find((one) => one.name === name);
  if (group === undefined || content === undefined || pipeline === undefined) return undefined;
  const { source, replicas, partitionKey } = pipeline;
  return {
    ...{ group: group.name, group_id: group.id, pipeline: name, replica, replicas },
    ...(partitionKey === undefined ? {} : { partition_key: partitionKey }),
    ...{ source, routes: [...routesFrom(state, group, { from: name, content }), ...waysToLeaving(state, group, name)] },
  };
}

interface Origin {
  readonly from: string;
  readonly content: FormerContent;
}

/** Each route from a pipeline with the one that it leads to, which is what the group has now, where it has it, or had last. */
function receiversOf(group: Group, { from, content }: Origin) {
  const contents = [group, content, ...(group.former ?? []).toReversed()];
  return content.routes.flatMap((route) => {
    if (route.fromPipeline !== from) return [];
    const pipelines = contents.find((one) => one.pipelines.some(({ name }) => name === route.toPipeline))?.pipelines ?? [];
    return pipelines.filter(({ name }) => name === route.toPipeline).map((to) => ({ route, to }));
  });
}

/** Placements that leave, to which a pipeline may still have something to send, by whichever route the group has had meanwhile. */
function leavingReceivers({ placements }: Pick<ClusterState, 'placements'>, group: Group, from: string): readonly Placement[] {
  const { former } = group;
  if (former === undefined) return [];
  const routes = [group, ...former].flatMap((content) => content.routes).filter(({ fromPipeline }) => fromPipeline === from);
  const names = new Set(routes.map(({ toPipeline }) => toPipeline));
  return former.flatMap(({ version, pipelines }) =>
    pipelines.flatMap(({ name, replicas }) => {
      const count = names.has(name) ? replicas : 0;
      const all = Array.from({ length: count }, (_, replica) => placements.get(placementId(group.id, name, replica)));
      return all.filter((one): one is Placement => one?.leavingVersion === version);
    }),
  );
}

/** The placements that routes lead to from a pipeline, each with its worker. `content`: by which the pipeline runs. */
export function routeTargets(
  { placements, workers }: Pick<ClusterState, 'placements' | 'workers'>,
  group: Group,
  { from, content }: Origin,
): readonly (Placement | Worker | undefined)[] {
  const present = receiversOf(group, { from, content }).flatMap(({ to }) =>
    Array.from({ length: to.replicas }, (_, replica) => placements.get(placementId(group.id, to.name, replica))),
  );
  return [...present, ...leavingReceivers({ placements }, group, from)].flatMap((placement) => [
    placement,
    placement?.workerId === undefined ? undefined : workers.get(placement.workerId),
  ]);
}

function routesFrom(state: ClusterState, group: Group, origin: Origin): PlacementRequest['routes'] {
  return receiversOf(group, origin).map(({ route: { eventTypes }, to }) => {
    const key = to.replicas > 1 && to.partitionKey !== undefined ? { partition_key: to.partitionKey } : {};
    const ids = Array.from({ length: to.replicas }, (_, replica) => [placementId(group.id, to.name, replica), replica] as const);
    return { event_types: [...eventTypes], ...key, targets: ids.map(([id, replica]) => targetOf(state, id, replica)) };
  });
}

/** Ways on which nothing new goes: what waits there already is sent while its receiver is there. */
function waysToLeaving(state: ClusterState, group: Group, from: string): PlacementRequest['routes'] {
  return leavingReceivers(state, group, from).map(({ id, replica }) => ({ event_types: [], targets: [targetOf(state, id, replica)] }));
}

function targetOf({ placements, workers }: ClusterState, id: string, replica: number) {
  const placement = placements.get(id);
  const address = placement?.workerId === undefined ? undefined : workers.get(placement.workerId)?.address;
  return { placement_id: id, replica, ...(address === undefined ? {} : { address }), epoch: placement?.epoch ?? 0 };
}
