import { expect, it } from 'vitest';
import { clusterProblems } from '../../../cli/console/cluster/cluster-problems.ts';
import type { ClusterHealth, Group, Migration, RaftStatus, Worker } from '../../../cli/console/service/shapes.ts';

const worker = (id: string, status: Worker['status']): Worker => ({ id, status, pipelines: [] }) as unknown as Worker;
const group = (...deployments: readonly Partial<Group['deployments'][number]>[]): Group =>
  ({
    id: 'g_1',
    name: 'floors',
    deployments: deployments.map((one) => ({ replica: 0, pipeline_name: 'hot', ...one })),
  }) as unknown as Group;
const migration = (status: Migration['status'], pipeline = 'hot'): Migration =>
  ({ group: 'floors', pipeline, replica: 0, status, error: 'the target went away' }) as unknown as Migration;
const nothing = { health: undefined, raft: undefined, workers: [], groups: [], migrations: [] };

it('finds nothing where all workers are there and everything runs', () => {
  const groups = [group({ status: 'running' })];
  expect(clusterProblems({ ...nothing, workers: [worker('w-1', 'ready')], groups, migrations: [migration('completed')] })).toEqual([]);
});

it('names what runs nowhere and who is away before what is on its way', () => {
  const found = clusterProblems({
    ...nothing,
    workers: [worker('w-1', 'draining'), worker('w-2', 'unhealthy')],
    groups: [group({ status: 'pending' }, { status: 'failed', error: 'no such file', replica: 1 })],
  });
  expect(found.map(({ tone, subject, text }) => `${tone} ${subject}: ${text}`)).toEqual([
    'bad w-2: no heartbeat: others get what it ran',
    'bad floors / hot: runs nowhere',
    'bad floors / hot (1): failed: no such file',
    'warn w-1: is being drained, 0 pipelines left',
  ]);
});

it('tells of a migration that failed until another of the same pipeline has come after it', () => {
  const groups = [group({ status: 'running' })];
  const of = (...migrations: readonly Migration[]): number => clusterProblems({ ...nothing, groups, migrations }).length;
  expect(of(migration('failed'), migration('completed'))).toBe(1);
  expect(of(migration('completed'), migration('failed'))).toBe(0);
  expect(of(migration('failed', 'gone'), migration('completed'))).toBe(1);
});

it('says that nothing runs without a worker, and that nothing changes without a leader', () => {
  const health = { status: 'no_workers' } as ClusterHealth;
  expect(clusterProblems({ ...nothing, health }).map(({ subject }) => subject)).toEqual(['cluster']);
  const leaderless = { status: 'critical', raft: { leader_id: null } } as unknown as ClusterHealth;
  expect(clusterProblems({ ...nothing, health: leaderless }).map(({ subject }) => subject)).toEqual(['coordinators']);
});

it('names each coordinator that does not answer, and says when one more would be too many', () => {
  const members = (...reachable: readonly boolean[]): Pick<RaftStatus, 'nodes'> => ({
    nodes: reachable.map((isThere, at) => ({ id: at + 1, url: `http://c${at + 1}`, reachable: isThere })) as RaftStatus['nodes'],
  });
  const told = (...reachable: readonly boolean[]): string[] =>
    clusterProblems({ ...nothing, raft: members(...reachable) }).map(({ subject, text }) => `${subject} ${text}`);
  expect(told(true, true, true)).toEqual([]);
  expect(told(true, true, false)).toEqual(['coordinator 3 does not answer: without one more, nothing can be changed (http://c3)']);
  expect(told(true, false, true, true, true)).toEqual(['coordinator 2 does not answer (http://c2)']);
});
