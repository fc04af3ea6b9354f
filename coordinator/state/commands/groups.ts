import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { type ClusterState, type Group, type GroupPipeline, indexKey, type Placement, placementId, type Route } from '../cluster-state.ts';
import { CREATION_FORMAT } from '../format.ts';
import type { Table } from '../table.ts';
import { withFormerProgram, withFormerPrograms } from './former-programs.ts';
import { formerOf, isToLeave, placementsOf, withoutPlacements } from './leaving.ts';
import { changed, command, type Outcome, type Place, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;
const nameSchema = Type.String({ minLength: 1, maxLength: 128 });
const idSchema = Type.String({ minLength: 1, maxLength: 64 });

const pipelineSchema = Type.Object(
  {
    name: nameSchema,
    source: Type.String({ maxLength: bounds.groupSourceCharsMax }),
    replicas: Type.Integer({ minimum: 1, maximum: bounds.pipelineReplicasMax }),
    workerAffinity: Type.Optional(nameSchema),
    partitionKey: Type.Optional(nameSchema),
  },
  strict,
);

const routeSchema = Type.Object(
  { fromPipeline: nameSchema, toPipeline: nameSchema, eventTypes: Type.Array(nameSchema, { maxItems: bounds.groupRoutesMax }) },
  strict,
);

const content = {
  pipelines: Type.Array(pipelineSchema, { minItems: 1, maxItems: bounds.groupPipelinesMax }),
  routes: Type.Array(routeSchema, { maxItems: bounds.groupRoutesMax }),
};

interface Content {
  readonly pipelines: readonly GroupPipeline[];
  readonly routes: readonly Route[];
}

/** Where events that are injected come from. */
const OUTSIDE = '_external';

/** What the cluster is to run. */
export const groupCommands = {
  CreateGroup: command(Type.Object({ name: nameSchema, ...content }, strict), (state, { name, ...payload }, place) => {
    const taken = [...state.groups.values()].find((group) => group.name === name);
    if (taken) return refused('name_taken', `there is a pipeline group '${name}' already`, 'change it, or choose another name');
    if (state.groups.size >= bounds.groupsMax) {
      return refused('quota_exceeded', `there are ${state.groups.size} pipeline groups, and no more than ${bounds.groupsMax} are kept`);
    }
    const times = { createdIndex: place.index, createdAtMs: place.nowMs, updatedAtMs: place.nowMs };
    const group: Group = { id: `g_${indexKey(place.index)}`, name, version: 1, ...(payload as Content), isDraining: false, ...times };
    return contentProblem(group) ?? kept(state, group, place);
  }),

  /** Pipelines that stay keep their workers, under a new epoch; what is no longer there leaves. */
  UpdateGroup: command(Type.Object({ id: idSchema, ...content }, strict), (state, { id, ...payload }, place) => {
    const before = state.groups.get(id);
    if (before === undefined) return unknownGroup(id);
    if (before.isDraining) return refused('transition_refused', `pipeline group '${before.name}' is being taken down`);
    const group: Group = { ...before, ...(payload as Content), version: before.version + 1, updatedAtMs: place.nowMs };
    return contentProblem(group) ?? kept(state, group, place, before);
  }),

  DrainGroup: command(Type.Object({ id: idSchema }, strict), (state, { id }, place) => {
    const before = state.groups.get(id);
    if (before === undefined) return unknownGroup(id);
    const group = { ...before, isDraining: true, updatedAtMs: before.isDraining ? before.updatedAtMs : place.nowMs };
    return changed({ ...state, groups: state.groups.set(id, group) }, { id }, { type: 'GroupDraining', id });
  }),

  DeleteGroup: command(Type.Object({ id: idSchema }, strict), (state, { id }) => {
    const group = state.groups.get(id);
    if (group === undefined) return unknownGroup(id);
    const next = withoutPlacements(state, placementsOf(state, id));
    return changed({ ...next, groups: next.groups.delete(id) }, { id }, { type: 'GroupDeleted', id });
  }),
};

function kept(state: ClusterState, group: Group, place: Place, former?: Group): Outcome {
  const created = state.format < CREATION_FORMAT ? {} : { createdIndex: place.index };
  const wanted = new Map(group.pipelines.flatMap((pipeline) => placementsFor(group.id, pipeline, created)).map((one) => [one.id, one]));
  const before = placementsOf(state, group.id);
  const unwanted = before.filter(({ id }) => !wanted.has(id));
  const leaving = unwanted
    .filter((one) => isToLeave(state, one))
    .map((one): Placement => ({ leavingVersion: former?.version ?? group.version, ...one }));
  const placementsAfter = state.placements.size - before.length + wanted.size + leaving.length;
  if (placementsAfter > bounds.placementsMax) {
    return refused(
      'quota_exceeded',
      `the cluster would run ${placementsAfter} pipelines, and no more than ${bounds.placementsMax} are taken`,
    );
  }
  const contents = former && formerOf(former, leaving);
  if (contents && sourceChars(contents.flatMap(({ pipelines }) => pipelines)) > bounds.groupSourceCharsMax) {
    return refused('transition_refused', 'pipelines that were taken out of the group before have not left yet', 'send it again later');
  }
  const next = withoutPlacements(
    state,
    unwanted.filter((one) => !isToLeave(state, one)),
  );
  let placements: Table<Placement> = next.placements;
  for (const one of leaving) placements = placements.set(one.id, one);
  const own: Placement[] = [];
  for (const [id, fresh] of wanted) {
    const { error: _error, leavingVersion: _stays, ...old } = withFormerProgram(state, next.placements.get(id) ?? fresh, former, group);
    own.push(old.workerId === undefined ? old : { ...old, status: 'assigned', epoch: place.index });
  }
  for (const placement of own) placements = placements.set(placement.id, placement);
  const isNew = group.version === 1;
  const event = { type: isNew ? 'GroupCreated' : 'GroupUpdated', id: group.id };
  const { former: _before, ...rest } = group;
  const changedGroup = withFormerPrograms(contents === undefined ? rest : { ...rest, former: contents }, former, [...own, ...leaving]);
  const { id, version } = group;
  return changed({ ...next, groups: next.groups.set(id, changedGroup), placements }, { id, version }, event);
}

function placementsFor(groupId: string, { name, replicas }: GroupPipeline, created: Pick<Placement, 'createdIndex'>): readonly Placement[] {
  return Array.from({ length: replicas }, (_, replica) => ({
    id: placementId(groupId, name, replica),
    groupId,
    pipeline: name,
    replica,
    status: 'pending' as const,
    epoch: 0,
    tenure: 0,
    ...created,
  }));
}

function contentProblem({ pipelines, routes }: Group): Outcome | undefined {
  const names = new Set<string>();
  for (const { name, replicas, partitionKey } of pipelines) {
    if (names.has(name)) return refused('validation_error', `two pipelines of the group are called '${name}'`);
    if (replicas > 1 && partitionKey === undefined) {
      return refused(
        'validation_error',
        `pipeline '${name}' has ${replicas} replicas and no partition_key`,
        'name the field that divides its events',
      );
    }
    names.add(name);
  }
  const chars = sourceChars(pipelines);
  if (chars > bounds.groupSourceCharsMax) {
    return refused('validation_error', `the programs of the group have ${chars} characters, and ${bounds.groupSourceCharsMax} are taken`);
  }
  for (const { fromPipeline, toPipeline } of routes) {
    const unknown = [fromPipeline === OUTSIDE ? undefined : fromPipeline, toPipeline].find(
      (name) => name !== undefined && !names.has(name),
    );
    if (unknown !== undefined) return refused('validation_error', `a route names the pipeline '${unknown}', which the group does not have`);
  }
  return undefined;
}

function sourceChars(pipelines: readonly GroupPipeline[]): number {
  return pipelines.reduce((sum, { source }) => sum + source.length, 0);
}

function unknownGroup(id: string): Outcome {
  return refused('group_not_found', `the cluster has no pipeline group '${id}'`);
}
