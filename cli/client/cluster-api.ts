import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { limits } from '../../shared/limits.ts';
import type {
  clusterHealthSchema,
  clusterMetricsSchema,
  drainedSchema,
  groupChangedSchema,
  groupSchema,
  migrationSchema,
  scalingSchema,
  topologySchema,
  tornDownSchema,
  workerSchema,
} from '../../shared/protocol/cluster.ts';
import type { groupBatchInjectedSchema } from '../../shared/protocol/cluster-events.ts';
import type { HttpClient } from './http-client.ts';
import type { Members } from './server-api.ts';

export type ClusterHealthAnswer = Static<typeof clusterHealthSchema>;
export type WorkerEntry = Static<typeof workerSchema>;
export interface MigrateRequest {
  readonly group: string;
  readonly pipeline: string;
  /** @default the first */
  readonly replica: number | undefined;
  /** @default the worker that a new pipeline would get */
  readonly to: string | undefined;
}

export type GroupEntry = Static<typeof groupSchema>;
export type MigrationEntry = Static<typeof migrationSchema>;
export type ScalingAnswer = Static<typeof scalingSchema>;
export type ClusterMetricsAnswer = Static<typeof clusterMetricsSchema>;
export type TopologyAnswer = Static<typeof topologySchema>;
export type GroupInjectAnswer = Static<typeof groupBatchInjectedSchema>;

const cluster = '/api/v1/cluster';

/** What commands ask a coordinator for about workers and groups. Every method throws the `CepError` of what it refuses. */
export class ClusterApi {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  health(): Promise<ClusterHealthAnswer> {
    return this.#get('/health', ['workers']);
  }

  /** All of them, in the order in which they registered. */
  workers(): Promise<WorkerEntry[]> {
    return this.#all(`${cluster}/workers`);
  }

  /** @throws CepError `worker_not_found` */
  worker(id: string): Promise<WorkerEntry> {
    return this.#get(`${cluster}/workers/${encodeURIComponent(id)}`, ['id']);
  }

  /** Waits at the coordinator. @throws CepError `drain_incomplete` when some could not be moved */
  drain(id: string, timeoutSecs: number | undefined): Promise<Static<typeof drainedSchema>> {
    return this.#post(
      `${cluster}/workers/${encodeURIComponent(id)}/drain`,
      ['worker_id'],
      timeoutSecs === undefined ? {} : { timeout_secs: timeoutSecs },
    );
  }

  /** All of them, oldest first. */
  groups(): Promise<GroupEntry[]> {
    return this.#all(`${cluster}/pipeline-groups`);
  }

  /** The group with this id, else the one with this name. @throws CepError `group_not_found` */
  async group(idOrName: string): Promise<GroupEntry> {
    const known = await this.groups();
    const found = known.find(({ id }) => id === idOrName) ?? known.find(({ name }) => name === idOrName);
    if (found) return found;
    const nearest = nearestName(
      idOrName,
      known.map(({ name }) => name),
    );
    const hint = nearest === undefined ? "'cep groups' lists those there are" : `did you mean '${nearest}'?`;
    throw new CepError('group_not_found', `no group has the id or the name '${idOrName}'`, { hint });
  }

  /** `document`: JSON text of the group. Without `waits` it is answered before its pipelines run. */
  deploy(document: string, waits: boolean): Promise<GroupEntry> {
    return this.#send('POST', `${cluster}/pipeline-groups?wait=${waits}`, ['id'], document);
  }

  update(id: string, document: string, waits: boolean): Promise<Static<typeof groupChangedSchema>> {
    return this.#send('PUT', `${cluster}/pipeline-groups/${encodeURIComponent(id)}?wait=${waits}`, ['id'], document);
  }

  remove(id: string): Promise<Static<typeof tornDownSchema>> {
    return this.#http.request({ method: 'DELETE', path: `${cluster}/pipeline-groups/${encodeURIComponent(id)}`, expected: ['torn_down'] });
  }

  /** `eventsText`: lines of an `.evt` file. */
  inject(id: string, eventsText: string, pipeline: string | undefined): Promise<GroupInjectAnswer> {
    const body = { events_text: eventsText, ...(pipeline === undefined ? {} : { pipeline }) };
    return this.#post(`${cluster}/pipeline-groups/${encodeURIComponent(id)}/inject-batch`, ['accepted'], body);
  }

  /** All of them, the newest last. */
  migrations(): Promise<MigrationEntry[]> {
    return this.#all(`${cluster}/migrations`);
  }

  /** To the worker that new pipelines would get when none is named. */
  migrate({ group, pipeline, replica, to }: MigrateRequest): Promise<MigrationEntry> {
    const path = `${cluster}/pipelines/${encodeURIComponent(group)}/${encodeURIComponent(pipeline)}/migrate`;
    return this.#post(path, ['id'], {
      ...(to === undefined ? {} : { target_worker_id: to }),
      ...(replica === undefined ? {} : { replica }),
    });
  }

  rebalance(): Promise<{ readonly migrations: readonly MigrationEntry[] }> {
    return this.#post(`${cluster}/rebalance`, ['migrations']);
  }

  scaling(): Promise<ScalingAnswer> {
    return this.#get(`${cluster}/scaling`, ['action']);
  }

  /** As the leader has heard it. */
  metrics(): Promise<ClusterMetricsAnswer> {
    return this.#get(`${cluster}/metrics`, ['totals']);
  }

  topology(): Promise<TopologyAnswer> {
    return this.#get(`${cluster}/topology`, ['workers']);
  }

  #get<T>(path: string, expected: Members<T>): Promise<T> {
    return this.#http.request({ method: 'GET', path, expected });
  }

  #post<T>(path: string, expected: Members<T>, body?: object): Promise<T> {
    return this.#send('POST', path, expected, body === undefined ? undefined : JSON.stringify(body));
  }

  /** With a key, so that it can be repeated. */
  #send<T>(method: 'POST' | 'PUT', path: string, expected: Members<T>, body: string | undefined): Promise<T> {
    return this.#http.request({ method, path, expected, ...(body === undefined ? {} : { body }), idempotencyKey: randomUUID() });
  }

  /** Every entry of a list that comes in pages, without members around it. A page may hold fewer than were asked for. */
  async #all<Entry>(path: string): Promise<Entry[]> {
    const all: Entry[] = [];
    for (;;) {
      const asked = `${path}?limit=${limits.pageEntriesMax}&offset=${all.length}`;
      const { entries, total } = await this.#http.page<Entry>(asked);
      all.push(...entries);
      const isLast = total === undefined ? entries.length < limits.pageEntriesMax : all.length >= total;
      if (isLast || entries.length === 0) return all;
    }
  }
}
