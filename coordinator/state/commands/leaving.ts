import Type from 'typebox';
import type { ClusterState, FormerContent, Group, Placement } from '../cluster-state.ts';
import { LEAVING_FORMAT } from '../format.ts';
import { withoutFormerProgram } from './former-programs.ts';
import { withoutIngressOf } from './ingress.ts';
import { changed, command, refused } from './outcome.ts';

const payload = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 512 }), epoch: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) },
  { additionalProperties: false },
);

export const leavingCommands = {
  /** A placement that leaves has done what it was given, or nobody waits for it any more. */
  RemovePlacement: command(
    payload,
    (state, { id, epoch }) => {
      const placement = state.placements.get(id);
      if (placement === undefined) return refused('pipeline_not_found', `the cluster has no placement '${id}'`);
      if (placement.leavingVersion === undefined) return refused('transition_refused', `placement '${id}' does not leave`);
      if (placement.epoch !== epoch) return refused('stale_epoch', `placement '${id}' has epoch ${placement.epoch}, found ${epoch}`);
      const next = withoutPlacements(withoutFormerProgram(state, id), [placement]);
      const group = next.groups.get(placement.groupId);
      const groups = group === undefined ? next.groups : next.groups.set(group.id, withFormerOf(next, group));
      return changed({ ...next, groups }, { id }, { type: 'PlacementRemoved', id });
    },
    LEAVING_FORMAT,
  ),
};

/** Whether a placement that its group has no more has anything to do before it goes. */
export function isToLeave({ format, ingressLogs }: ClusterState, { id, epoch }: Placement): boolean {
  const wasGiven = epoch > 0 || (ingressLogs.get(id)?.last ?? 0) > 0;
  return format >= LEAVING_FORMAT && wasGiven;
}

/** What these placements, which leave, run by; undefined where there are none. `before`: their group when the last of them began to leave. */
export function formerOf(before: Group, leaving: readonly Placement[]): readonly FormerContent[] | undefined {
  const contents: readonly FormerContent[] = [...(before.former ?? []), before];
  const needed = contents.flatMap(({ version, pipelines, routes }): FormerContent[] => {
    const names = new Set(leaving.filter(({ leavingVersion }) => leavingVersion === version).map(({ pipeline }) => pipeline));
    if (names.size === 0) return [];
    return [
      {
        version,
        pipelines: pipelines.filter(({ name }) => names.has(name)),
        routes: routes.filter(({ fromPipeline, toPipeline }) => names.has(fromPipeline) || names.has(toPipeline)),
      },
    ];
  });
  return needed.length === 0 ? undefined : needed;
}

function withFormerOf(state: ClusterState, { former = [], ...group }: Group): Group {
  const versions = new Set(placementsOf(state, group.id).map(({ leavingVersion }) => leavingVersion));
  const needed = former.filter(({ version }) => versions.has(version));
  return needed.length === 0 ? group : { ...group, former: needed };
}

/** Those that leave among them. */
export function placementsOf(state: ClusterState, groupId: string): readonly Placement[] {
  return [...state.placements.values()].filter((placement) => placement.groupId === groupId);
}

/** With what there is of them: their checkpoints, migrations and events. */
export function withoutPlacements(state: ClusterState, gone: readonly Placement[]): ClusterState {
  const ids = new Set(gone.map(({ id }) => id));
  if (ids.size === 0) return state;
  let { placements, manifests, migrations } = state;
  for (const id of ids) {
    placements = placements.delete(id);
    manifests = manifests.delete(id);
  }
  for (const migration of state.migrations.values()) if (ids.has(migration.placementId)) migrations = migrations.delete(migration.id);
  let next: ClusterState = { ...state, placements, manifests, migrations };
  for (const id of ids) next = withoutIngressOf(next, id);
  return next;
}
