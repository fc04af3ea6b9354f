import type { Static } from 'typebox';
import type { clusterMetricsSchema } from '../../shared/protocol/cluster.ts';
import type { Observations } from '../reconcile/observations.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { workersOf } from '../state/queries.ts';

type Wire = Static<typeof clusterMetricsSchema>;

/** What workers have told with their last heartbeats. */
export function clusterMetricsWire(state: ClusterState, observations: Observations): Wire {
  const heard = workersOf(state).map((worker) => ({ worker, report: observations.of(worker) }));
  const workers = heard.map(({ worker: { id, status }, report }) => ({
    ...{ id, status, events_processed: report?.heartbeat.events_processed ?? 0, events_per_second: report?.eventsPerSecond ?? 0 },
    ...{ pipelines_running: report?.heartbeat.pipelines_running ?? 0, load: { ...report?.heartbeat.load } },
  }));
  const pipelines = heard.flatMap(({ worker, report }) =>
    (report?.heartbeat.pipeline_metrics ?? []).map(({ group, pipeline, replica = 0, events_in, events_out }) => {
      return { group, pipeline, replica, worker_id: worker.id, events_in, events_out };
    }),
  );
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  return {
    totals: {
      workers: workers.length,
      pipeline_groups: state.groups.size,
      deployments: state.placements.size,
      events_processed: sum(workers.map(({ events_processed }) => events_processed)),
      events_in: sum(pipelines.map(({ events_in }) => events_in)),
      events_out: sum(pipelines.map(({ events_out }) => events_out)),
    },
    ...{ workers, pipelines },
  };
}
