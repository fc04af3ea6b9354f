import { counted, thousands } from '../counts.ts';
import type { ClusterHealthAnswer, GroupEntry, MigrationEntry, WorkerEntry } from './cluster-api.ts';
import { replicaText } from './group-text.ts';
import type { RaftStatusAnswer } from './server-api.ts';

/** As many entries as a member may lack to be given a vote: one further behind would miss much if it had to lead. */
const lagMax = 1_000;

export interface ClusterFacts {
  readonly health: ClusterHealthAnswer;
  readonly raft: RaftStatusAnswer;
  readonly workers: readonly WorkerEntry[];
  readonly groups: readonly GroupEntry[];
  readonly migrations: readonly MigrationEntry[];
}

/** What an operator should look at, one sentence each, what stops most first. */
export function clusterProblems(facts: ClusterFacts): string[] {
  const problems = [...coordinatorProblems(facts.raft), ...workerProblems(facts), ...groupProblems(facts.groups)];
  const { status } = facts.health;
  const isUnexplained = problems.length === 0 && (status === 'critical' || status === 'degraded');
  return isUnexplained ? [`the cluster calls itself ${status}`] : problems;
}

function coordinatorProblems({ leader_id: leader, node_id: asked, nodes, recovering, removed }: RaftStatusAnswer): string[] {
  if (removed === true) return [`coordinator ${asked} was removed from the group and still runs: stop it, and ask another one`];
  return [
    ...(leader === null ? ['no coordinator leads: nothing can be changed (cep raft status)'] : []),
    ...nodes.filter(({ reachable }) => !reachable).map(({ id, url }) => `coordinator ${id} at ${url} does not answer`),
    ...(recovering ? [`coordinator ${asked} lost what it had acknowledged, and does not vote before it has it again`] : []),
    ...nodes
      .filter(({ reachable, lag }) => reachable && lag !== null && lag > lagMax)
      .map(({ id, lag }) => `coordinator ${id} is ${thousands(lag ?? 0)} entries behind`),
  ];
}

function workerProblems({ health, workers }: ClusterFacts): string[] {
  const lost = workers.filter(({ status }) => status === 'unhealthy');
  const isNoneReady = lost.length < workers.length && workers.every(({ status }) => status !== 'ready');
  return [
    ...(health.status === 'no_workers' ? ['there are no workers: nothing runs'] : []),
    ...(isNoneReady ? ['no worker is ready: nothing can be placed, and what a worker loses has nowhere to go (cep workers)'] : []),
    ...lost.map(
      ({ id, pipelines }) => `worker ${id} is not heard of, with ${counted(pipelines.length, 'pipeline')} (cep workers show ${id})`,
    ),
  ];
}

/** Pipelines that a worker has been given and does not run yet: no fault, and soon over. */
export function startingPipelines(groups: readonly GroupEntry[]): string[] {
  return groups.flatMap(({ name, deployments }) =>
    deployments
      .filter(({ status }) => status === 'assigned')
      .map((deployment) => `pipeline ${replicaText(deployment)} of group ${name} does not run yet at worker ${deployment.worker_id}`),
  );
}

function groupProblems(groups: readonly GroupEntry[]): string[] {
  return groups.flatMap(({ name, deployments }) =>
    deployments
      .filter(({ status }) => status === 'failed' || status === 'degraded' || status === 'pending')
      .map((deployment) => {
        const { status, error } = deployment;
        const why = error === undefined ? '' : `: ${error}`;
        return `pipeline ${replicaText(deployment)} of group ${name} is ${status}${why} (cep groups show ${name})`;
      }),
  );
}
