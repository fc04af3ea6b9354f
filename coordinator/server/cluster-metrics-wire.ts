import type { Static } from 'typebox';
import type { clusterMetricsSchema } from '../../shared/protocol/cluster.ts';
import { type Observations, replicaKey } from '../reconcile/observations.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { workersOf } from '../state/queries.ts';

type Wire = Static<typeof clusterMetricsSchema>;

/**
 * What workers have told with their last heartbeats. A pipeline counts where it is assigned, and nothing of a worker that is lost: what it had
 * is counted on by whoever has it next.
 */
export function clusterMetricsWire(state: ClusterState, observations: Observations): Wire {
  const assigned = workersByPipeline(state);
  const heard = workersOf(state).map((worker) => ({ worker, report: observations.of(worker) }));
  const workers = heard.map(({ worker: { id, status }, report }) => ({
    ...{ id, status, events_processed: report?.heartbeat.events_processed ?? 0, events_per_second: report?.eventsPerSecond ?? 0 },
    ...{ pipelines_running: report?.heartbeat.pipelines_running ?? 0, load: { ...report?.heartbeat.load } },
  }));
  const pipelines = heard.flatMap(({ worker, report }) =>
    (report?.heartbeat.pipeline_metrics ?? []).flatMap(({ group, pipeline, replica = 0, events_in, events_out }) => {
      if (assigned.get(replicaKey({ group, pipeline, replica })) !== worker.id) return [];
      return [{ group, pipeline, replica, worker_id: worker.id, events_in, events_out }];
    }),
  );
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  return {
    totals: {
      workers: workers.length,
      pipeline_groups: state.groups.size,
      deployments: state.placements.size,
      events_processed: sum(workers.map(({ status, events_processed }) => (status === 'unhealthy' ? 0 : events_processed))),
      events_in: sum(pipelines.map(({ events_in }) => events_in)),
      events_out: sum(pipelines.map(({ events_out }) => events_out)),
    },
    ...{ workers, pipelines },
  };
}

/** Who has each replica of a pipeline, by the names that workers report. */
function workersByPipeline({ groups, placements }: ClusterState): ReadonlyMap<string, string | undefined> {
  return new Map(
    Array.from(placements.values(), ({ groupId, pipeline, replica, workerId }) => {
      return [replicaKey({ group: groups.get(groupId)?.name ?? '', pipeline, replica }), workerId];
    }),
  );
}
