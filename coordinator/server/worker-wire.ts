import type { Static } from 'typebox';
import type { workerSchema } from '../../shared/protocol/cluster.ts';
import type { Observations } from '../reconcile/observations.ts';
import type { ClusterState, Placement, Worker } from '../state/cluster-state.ts';

interface Shown {
  readonly worker: Worker;
  /** What it is to run. */
  readonly placements: readonly Placement[];
  /** What this member has heard of it, when it leads. */
  readonly report: ReturnType<Observations['of']>;
}

export function workerWire(state: ClusterState, { worker, placements, report }: Shown): Static<typeof workerSchema> {
  const names = placements.map(({ groupId, pipeline, replica }) => `${state.groups.get(groupId)?.name ?? groupId}:${pipeline}:${replica}`);
  const running = placements.filter(({ status }) => status === 'running' || status === 'degraded').length;
  const { id, address, incarnation, version, cpuCores, pipelinesMax, registeredAtMs } = worker;
  return {
    ...{ id, address, status: worker.status === 'removed' ? 'unhealthy' : worker.status },
    ...{ pipelines: names, assigned_pipelines: names, pipelines_running: running, max_pipelines: pipelinesMax, cpu_cores: cpuCores },
    events_processed: report?.heartbeat.events_processed ?? 0,
    events_per_second: report?.eventsPerSecond ?? 0,
    ...{ registered_at: registeredAtMs, last_heartbeat: report?.atMs ?? null, incarnation, version },
  };
}
