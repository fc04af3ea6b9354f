import { bounds } from '../../../../coordinator/state/bounds.ts';
import { type ClusterState, ingressKey, placementId, useKey } from '../../../../coordinator/state/cluster-state.ts';

/** What is wrong with a state, each as a sentence. No sequence of commands leads to any of it. */
export function stateProblems(state: ClusterState): string[] {
  return [
    ...placementProblems(state),
    ...formerProgramProblems(state),
    ...migrationProblems(state),
    ...manifestProblems(state),
    ...sessionProblems(state),
    ...ingressProblems(state),
    ...otherProblems(state),
  ];
}

function placementProblems({ placements, groups, workers, index }: ClusterState): string[] {
  const problems: string[] = [];
  for (const { id, groupId, pipeline, replica, status, workerId, epoch, leavingVersion } of placements.values()) {
    const group = groups.get(groupId);
    const content = leavingVersion === undefined ? group : group?.former?.find(({ version }) => version === leavingVersion);
    const wanted = content?.pipelines.find(({ name }) => name === pipeline);
    if (wanted === undefined || replica >= wanted.replicas) problems.push(`placement ${id} is of no pipeline`);
    if (id !== placementId(groupId, pipeline, replica)) problems.push(`placement ${id} has the wrong id`);
    if ((status === 'pending') !== (workerId === undefined)) problems.push(`placement ${id} is ${status} with worker ${workerId}`);
    if (workerId !== undefined && workers.get(workerId)?.status === undefined) problems.push(`placement ${id} is at no worker`);
    if (workerId !== undefined && ['removed', 'drained'].includes(workers.get(workerId)?.status ?? ''))
      problems.push(`placement ${id} is at a gone worker`);
    if (epoch > index || (workerId !== undefined && epoch === 0)) problems.push(`placement ${id} has epoch ${epoch} at ${index}`);
  }
  const expected = [...groups.values()].flatMap(({ pipelines }) => pipelines).reduce((sum, { replicas }) => sum + replicas, 0);
  const staying = [...placements.values()].filter(({ leavingVersion }) => leavingVersion === undefined);
  if (staying.length !== expected) problems.push(`there are ${staying.length} placements of ${expected}`);
  for (const { id, former = [] } of groups.values()) {
    for (const { version, pipelines } of former) {
      const isNeeded = ({ name }: { readonly name: string }): boolean =>
        [...placements.values()].some((one) => one.groupId === id && one.leavingVersion === version && one.pipeline === name);
      if (!pipelines.some(isNeeded)) problems.push(`group ${id} keeps version ${version}, by which nothing runs`);
    }
  }
  return problems;
}

/** A program of before is kept exactly as long as a placement names it. */
function formerProgramProblems({ placements, groups }: ClusterState): string[] {
  return [...groups.values()].flatMap(({ id, formerPrograms = {} }) => {
    const own = [...placements.values()].filter(({ groupId }) => groupId === id);
    const named = new Set(own.flatMap(({ formerProgram }) => formerProgram ?? []));
    const fits = named.size === Object.keys(formerPrograms).length && [...named].every((key) => key in formerPrograms);
    return fits ? [] : [`group ${id} keeps programs of before that are not those of its placements`];
  });
}

function migrationProblems({ migrations, placements }: ClusterState): string[] {
  const open = [...migrations.values()].filter(({ status }) => status === 'started' || status === 'moved');
  const moving = open.map((one) => one.placementId);
  return [
    ...(new Set(moving).size < moving.length ? ['a placement has two migrations at a time'] : []),
    ...[...migrations.values()].filter((one) => !placements.has(one.placementId)).map(({ id }) => `migration ${id} is of no placement`),
  ];
}

function manifestProblems({ manifests, placements }: ClusterState): string[] {
  return [...manifests.entries()].flatMap(([id, kept]) => {
    const isOrdered = kept.every(({ sequence }, at) => at === 0 || sequence === (kept[at - 1]?.sequence ?? 0) + 1);
    const fits = kept.length > 0 && kept.length <= bounds.manifestsMax && isOrdered && placements.has(id);
    return fits ? [] : [`the manifests of ${id} are wrong`];
  });
}

/** Each log is without gaps, and holds nothing that a checkpoint has. */
function ingressProblems({ ingress, ingressLogs, ingressChars, manifests, placements }: ClusterState): string[] {
  const problems: string[] = [];
  let batches = 0;
  let all = 0;
  for (const { placementId: id, first, last, chars } of ingressLogs.values()) {
    const kept = Array.from({ length: last - first + 1 }, (_, at) => ingress.get(ingressKey(id, first + at)));
    const found = kept.reduce((sum, batch) => sum + (batch?.events.length ?? 0), 0);
    batches += kept.length;
    all += found;
    if (kept.includes(undefined) || found !== chars) problems.push(`the ingress log of ${id} has gaps or counts wrongly`);
    const covered = manifests.get(id)?.at(-1)?.received._external ?? 0;
    if (!placements.has(id) || first <= Math.min(covered, last)) problems.push(`the ingress log of ${id} keeps what nobody needs`);
  }
  if (batches !== ingress.size || all !== ingressChars) problems.push('batches are kept that are in no log');
  return problems;
}

function sessionProblems({ sessions, sessionsByUse, sessionChars }: ClusterState): string[] {
  const all = [...sessions.values()];
  const isFound = all.every((session) => sessionsByUse.get(useKey(session)) === session.id);
  const chars = all.flatMap(({ results }) => results).reduce((sum, { value }) => sum + JSON.stringify(value).length, 0);
  return [
    ...(isFound && sessionsByUse.size === all.length ? [] : ['sessions and their order differ']),
    ...(chars === sessionChars ? [] : [`sessions have ${chars} characters, and ${sessionChars} are counted`]),
    ...all
      .filter(({ results, lowest }) => results.some(({ sequence }) => sequence < lowest))
      .map(({ id }) => `session ${id} keeps what it forgot`),
  ];
}

function otherProblems({ connectors, groups, members, removedMembers, workers }: ClusterState): string[] {
  const names = [...groups.values()].map(({ name }) => name);
  return [
    ...(new Set(names).size < names.length ? ['two groups have a name'] : []),
    ...[...connectors.entries()].filter(([key, { name }]) => key !== name).map(([key]) => `connector ${key} has another name`),
    ...[...members.values()].filter(({ id }) => removedMembers.includes(id)).map(({ id }) => `member ${id} came back`),
    ...[...workers.values()]
      .filter((one) => one.status !== 'removed' && one.fenced.includes(one.incarnation))
      .map(({ id }) => `worker ${id} is fenced`),
  ];
}
