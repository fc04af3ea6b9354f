import { askList } from '../service/paging.ts';
import { type Polled, usePoll } from '../service/poll.ts';
import { ask } from '../service/requests.ts';
import type { ClusterEvent, ClusterHealth, ClusterMetrics, Group, Migration, RaftStatus, Scaling, Worker } from '../service/shapes.ts';

const EVERY_MS = 2_000;
const SLOWLY_MS = 5_000;
const api = '/api/v1/cluster';

/** Lists of the cluster, asked for as often as they change. */
export const useWorkers = (): Polled<readonly Worker[]> =>
  usePoll('workers', (signal) => askList<Worker>(`${api}/workers`, signal), EVERY_MS);

export const useGroups = (): Polled<readonly Group[]> =>
  usePoll('groups', (signal) => askList<Group>(`${api}/pipeline-groups`, signal), EVERY_MS);

export const useGroup = (id: string): Polled<Group> =>
  usePoll(`group ${id}`, (signal) => ask<Group>(`${api}/pipeline-groups/${encodeURIComponent(id)}`, { signal }), EVERY_MS);

export const useMigrations = (): Polled<readonly Migration[]> =>
  usePoll('migrations', (signal) => ask<readonly Migration[]>(`${api}/migrations?limit=200`, { signal }), EVERY_MS);

export const useClusterMetrics = (): Polled<ClusterMetrics> =>
  usePoll('cluster metrics', (signal) => ask<ClusterMetrics>(`${api}/metrics`, { signal }), EVERY_MS);

export const useScaling = (): Polled<Scaling> => usePoll('scaling', (signal) => ask<Scaling>(`${api}/scaling`, { signal }), SLOWLY_MS);

export const useRaft = (): Polled<RaftStatus> => usePoll('raft', (signal) => ask<RaftStatus>(`${api}/raft`, { signal }), EVERY_MS);

export const useClusterHealth = (): Polled<ClusterHealth> =>
  usePoll('cluster health', (signal) => ask<ClusterHealth>('/health', { signal }), EVERY_MS);

export const useClusterEvents = (limit: number): Polled<readonly ClusterEvent[]> =>
  usePoll(`cluster events ${limit}`, (signal) => ask<readonly ClusterEvent[]>(`${api}/events?limit=${limit}`, { signal }), EVERY_MS);

/** What may be asked of the cluster. Each is refused in the words of the coordinator. */
export const clusterActions = {
  drain: (worker: string) => ask(`${api}/workers/${encodeURIComponent(worker)}/drain`, { method: 'POST' }),
  removeWorker: (worker: string) => ask(`${api}/workers/${encodeURIComponent(worker)}`, { method: 'DELETE' }),
  removeGroup: (group: string) => ask(`${api}/pipeline-groups/${encodeURIComponent(group)}`, { method: 'DELETE' }),
  rebalance: () => ask<{ readonly migrations: readonly Migration[] }>(`${api}/rebalance`, { method: 'POST' }),
  /** To the worker that new pipelines would get when none is named. */
  migrate: (group: string, pipeline: string, { replica, to }: { readonly replica: number; readonly to: string }) =>
    ask<Migration>(`${api}/pipelines/${encodeURIComponent(group)}/${encodeURIComponent(pipeline)}/migrate`, {
      method: 'POST',
      body: { replica, ...(to === '' ? {} : { target_worker_id: to }) },
    }),
} as const;
