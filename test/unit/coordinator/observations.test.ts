import { expect, it } from 'vitest';
import type { Heartbeat } from '../../../coordinator/reconcile/heartbeat.ts';
import { Observations } from '../../../coordinator/reconcile/observations.ts';
import { clusterMetricsWire } from '../../../coordinator/server/cluster-metrics-wire.ts';
import type { ClusterState, Worker } from '../../../coordinator/state/cluster-state.ts';

const worker = (id: string, status: Worker['status'] = 'ready'): Worker => ({ id, status, incarnation: 'i1' }) as Worker;
/** `own`: events of pipelines that are not the cluster's. */
const heartbeat = (own: number, events: Readonly<Record<string, number>>): Heartbeat => ({
  incarnation: 'i1',
  events_processed: own + Object.values(events).reduce((sum, one) => sum + one, 0),
  pipeline_metrics: Object.entries(events).map(([pipeline, events_in]) => ({ group: 'g', pipeline, replica: 0, events_in, events_out: 0 })),
});

it('counts the events of a second by pipelines that were there before, whatever came with others', () => {
  const observations = new Observations();
  const a = worker('a');
  observations.heard(a, heartbeat(10, { p: 100 }), 1_000);
  observations.heard(a, heartbeat(14, { p: 106, moved: 50_000 }), 3_000);
  expect(observations.of(a)?.eventsPerSecond).toBe(5);
  observations.heard(a, heartbeat(14, { moved: 50_020 }), 5_000);
  expect(observations.of(a)?.eventsPerSecond).toBe(10);
});

it('does not take what a pipeline brought along for events of now before it is said whose they are', () => {
  const observations = new Observations();
  const a = worker('a');
  const listed = (status: 'restoring' | 'running') => ({ pipelines: [{ group: 'g', pipeline: 'moved', replica: 0, epoch: 1, status }] });
  observations.heard(a, heartbeat(10, {}), 1_000);
  observations.heard(a, { ...heartbeat(10, {}), ...listed('restoring') } as Heartbeat, 2_000);
  observations.heard(a, { ...heartbeat(50_010, {}), ...listed('running') } as Heartbeat, 3_000);
  expect(observations.of(a)?.eventsPerSecond).toBe(0);
  observations.heard(a, { ...heartbeat(10, { moved: 50_030 }), ...listed('running') } as Heartbeat, 4_000);
  expect(observations.of(a)?.eventsPerSecond).toBe(0);
  observations.heard(a, { ...heartbeat(10, { moved: 50_040 }), ...listed('running') } as Heartbeat, 5_000);
  expect(observations.of(a)?.eventsPerSecond).toBe(10);
});

it('counts a pipeline where it is assigned, and nothing twice of a worker that is lost', () => {
  const observations = new Observations();
  const [lost, next] = [worker('lost', 'unhealthy'), worker('next')];
  observations.heard(lost, heartbeat(0, { p: 5_000 }), 1_000);
  observations.heard(next, heartbeat(0, { p: 5_010 }), 2_000);
  const state = {
    workers: new Map([lost, next].map((one) => [one.id, one])),
    groups: new Map([['g_1', { name: 'g' }]]),
    placements: new Map([['g_1:p:0', { groupId: 'g_1', pipeline: 'p', replica: 0, workerId: 'next' }]]),
  } as unknown as ClusterState;
  const { totals, pipelines } = clusterMetricsWire(state, observations);
  expect(pipelines).toEqual([{ group: 'g', pipeline: 'p', replica: 0, worker_id: 'next', events_in: 5_010, events_out: 0 }]);
  expect(totals).toMatchObject({ events_processed: 5_010, events_in: 5_010 });
});
