import { plural } from '../parts/text.ts';
import { href } from '../service/href.ts';
import type { ClusterHealth, Group, Migration, RaftStatus, Worker } from '../service/shapes.ts';

export interface ClusterProblem {
  readonly tone: 'bad' | 'warn';
  readonly subject: string;
  readonly text: string;
  readonly link: string;
}

export interface ClusterFacts {
  readonly health: ClusterHealth | undefined;
  /** Undefined until it was heard. */
  readonly raft: Pick<RaftStatus, 'nodes'> | undefined;
  readonly workers: readonly Worker[];
  readonly groups: readonly Group[];
  readonly migrations: readonly Migration[];
}

/** What should be looked at in a cluster, worst first. */
export function clusterProblems({ health, raft, workers, groups, migrations }: ClusterFacts): readonly ClusterProblem[] {
  const found = [
    ...groupProblem(health),
    ...memberProblems(raft?.nodes ?? []),
    ...workers.flatMap(workerProblem),
    ...groups.flatMap(deploymentProblems),
    ...failedMoves(migrations, groups),
  ];
  return found.toSorted((a, b) => Number(a.tone === 'warn') - Number(b.tone === 'warn'));
}

function groupProblem(health: ClusterHealth | undefined): ClusterProblem[] {
  if (health?.status === 'no_workers')
    return [
      { tone: 'bad', subject: 'cluster', text: 'no worker is ready: nothing runs, and nothing can be placed', link: href(['workers']) },
    ];
  if (health?.raft !== undefined && health.raft.leader_id === null)
    return [{ tone: 'bad', subject: 'coordinators', text: 'no leader is known: changes wait until one is elected', link: href(['raft']) }];
  return [];
}

/** One more that goes may be one too many: then nothing can be changed. */
function memberProblems(nodes: RaftStatus['nodes']): ClusterProblem[] {
  const away = nodes.filter(({ reachable }) => !reachable);
  const text = 2 * (away.length + 1) < nodes.length ? 'does not answer' : 'does not answer: without one more, nothing can be changed';
  return away.map(({ id, url }) => ({ tone: 'warn', subject: `coordinator ${id}`, text: `${text} (${url})`, link: href(['raft']) }));
}

function workerProblem({ id, status, pipelines }: Worker): ClusterProblem[] {
  const link = href(['workers', id]);
  if (status === 'unhealthy') return [{ tone: 'bad', subject: id, text: 'no heartbeat: others get what it ran', link }];
  if (status === 'draining')
    return [{ tone: 'warn', subject: id, text: `is being drained, ${plural(pipelines.length, 'pipeline')} left`, link }];
  return [];
}

function deploymentProblems({ id, name, deployments }: Group): ClusterProblem[] {
  const link = href(['groups', id]);
  return deployments.flatMap(({ pipeline_name: pipeline, replica, status, error }): ClusterProblem[] => {
    const subject = `${name} / ${pipeline}${replica > 0 ? ` (${replica})` : ''}`;
    const why = error === undefined ? '' : `: ${error}`;
    if (status === 'failed') return [{ tone: 'bad', subject, text: `failed${why}`, link }];
    if (status === 'pending') return [{ tone: 'bad', subject, text: `runs nowhere${why}`, link }];
    return status === 'degraded' ? [{ tone: 'warn', subject, text: `degraded${why}`, link }] : [];
  });
}

/** Only of those that are there still, and where none came after. */
function failedMoves(migrations: readonly Migration[], groups: readonly Group[]): ClusterProblem[] {
  const names = new Set(groups.map(({ name }) => name));
  const seen = new Set<string>();
  return migrations.flatMap(({ group, pipeline, replica, status, error = 'no reason is known' }): ClusterProblem[] => {
    const key = `${group} ${pipeline} ${replica}`;
    const isNewest = !seen.has(key);
    seen.add(key);
    if (!isNewest || status !== 'failed' || !names.has(group)) return [];
    return [{ tone: 'warn', subject: `${group} / ${pipeline}`, text: `could not be moved: ${error}`, link: href(['migrations']) }];
  });
}
