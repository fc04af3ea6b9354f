import { type ClusterState, contentOf, type Group, type Placement, placementId } from '../cluster-state.ts';
import { CREATION_FORMAT } from '../format.ts';

type FormerPrograms = NonNullable<Group['formerPrograms']>;

/**
 * A placement of a group that changes, with what its state is of until a checkpoint is of the program of now. What has failed need not go on
 * with what it failed with.
 */
export function withFormerProgram({ format }: ClusterState, placement: Placement, before: Group | undefined, group: Group): Placement {
  const { formerProgram: known, ...rest } = placement;
  const ran = before && contentOf(before, placement);
  const was = ran && sourceIn(ran, placement);
  const hasBegun = placement.epoch > 0 && placement.status !== 'failed';
  if (format < CREATION_FORMAT || ran === undefined || was === undefined || !hasBegun) return rest;
  const former = known === undefined ? was : before?.formerPrograms?.[known];
  const formerProgram = known ?? keyOf(placement, ran.version);
  return former === sourceIn(group, placement) ? rest : { ...rest, formerProgram };
}

/** A group that changes, with the programs that its placements name. */
export function withFormerPrograms(
  { formerPrograms: _, ...group }: Group,
  before: Group | undefined,
  placements: readonly Placement[],
): Group {
  const named: Record<string, string> = {};
  for (const placement of placements) {
    const { formerProgram: key } = placement;
    if (key === undefined || before === undefined) continue;
    const ran = [before, ...(before.former ?? [])].find(({ version }) => keyOf(placement, version) === key);
    const source = before.formerPrograms?.[key] ?? (ran && sourceIn(ran, placement));
    if (source !== undefined) named[key] = source;
  }
  return withNamed(group, named);
}

/** From here on a placement goes on with the program of its group. */
export function withoutFormerProgram(state: ClusterState, id: string): ClusterState {
  const placement = state.placements.get(id);
  const group = placement && state.groups.get(placement.groupId);
  if (placement?.formerProgram === undefined || group === undefined) return state;
  const { formerProgram: key, ...rest } = placement;
  const next = { ...state, placements: state.placements.set(id, rest) };
  if (isNamed(next, group, rest.pipeline, key)) return next;
  const { formerPrograms: { [key]: _, ...named } = {}, ...bare } = group;
  return { ...next, groups: next.groups.set(group.id, withNamed(bare, named)) };
}

function withNamed(group: Group, formerPrograms: FormerPrograms): Group {
  return Object.keys(formerPrograms).length === 0 ? group : { ...group, formerPrograms };
}

function isNamed({ placements }: ClusterState, group: Group, pipeline: string, key: string): boolean {
  // As many as there are, or were: those that leave have a program of before too.
  const contents = [group, ...(group.former ?? [])];
  const replicas = Math.max(...contents.map(({ pipelines }) => pipelines.find(({ name }) => name === pipeline)?.replicas ?? 0));
  for (let replica = 0; replica < replicas; replica++) {
    if (placements.get(placementId(group.id, pipeline, replica))?.formerProgram === key) return true;
  }
  return false;
}

function keyOf({ pipeline }: Placement, version: number): string {
  return `${pipeline}@${version}`;
}

function sourceIn({ pipelines }: Pick<Group, 'pipelines'>, { pipeline }: Placement): string | undefined {
  return pipelines.find(({ name }) => name === pipeline)?.source;
}
