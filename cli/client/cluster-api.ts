import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { limits } from '../../shared/limits.ts';
import type {
  clusterHealthSchema,
  clusterMetricsSchema,
  drainedSchema,
  groupSchema,
  migrationSchema,
  scalingSchema,
  topologySchema,
  tornDownSchema,
  workerSchema,
} from '../../shared/protocol/cluster.ts';
import type { groupBatchInjectedSchema } from '../../shared/protocol/cluster-events.ts';
import type { HttpClient } from './http-client.ts';

export type ClusterHealthAnswer = Static<typeof clusterHealthSchema>;
export type WorkerEntry = Static<typeof workerSchema>;
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
    return this.#get('/health');
  }

  /** All of them, in the order in which they registered. */
  workers(): Promise<WorkerEntry[]> {
    return this.#all(`${cluster}/workers`);
  }

  /** @throws CepError `worker_not_found` */
  worker(id: string): Promise<WorkerEntry> {
    return this.#get(`${cluster}/workers/${encodeURIComponent(id)}`);
  }

  /** Waits at the coordinator. @throws CepError `drain_incomplete` when some could not be moved */
  drain(id: string, timeoutSecs: number | undefined): Promise<Static<typeof drainedSchema>> {
    return this.#post(`${cluster}/workers/${encodeURIComponent(id)}/drain`, timeoutSecs === undefined ? {} : { timeout_secs: timeoutSecs });
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
    return this.#send('POST', `${cluster}/pipeline-groups?wait=${waits}`, document);
  }

  update(id: string, document: string, waits: boolean): Promise<GroupEntry> {
    return this.#send('PUT', `${cluster}/pipeline-groups/${encodeURIComponent(id)}?wait=${waits}`, document);
  }

  remove(id: string): Promise<Static<typeof tornDownSchema>> {
    return this.#http.request({ method: 'DELETE', path: `${cluster}/pipeline-groups/${encodeURIComponent(id)}` });
  }

  /** `eventsText`: lines of an `.evt` file. */
  inject(id: string, eventsText: string, pipeline: string | undefined): Promise<GroupInjectAnswer> {
    const body = { events_text: eventsText, ...(pipeline === undefined ? {} : { pipeline }) };
    return this.#post(`${cluster}/pipeline-groups/${encodeURIComponent(id)}/inject-batch`, body);
  }

  /** All of them, the newest last. */
  migrations(): Promise<MigrationEntry[]> {
    return this.#all(`${cluster}/migrations`);
  }

  /** To the worker that new pipelines would get when none is named. */
  migrate(group: string, pipeline: string, to: string | undefined): Promise<MigrationEntry> {
    const path = `${cluster}/pipelines/${encodeURIComponent(group)}/${encodeURIComponent(pipeline)}/migrate`;
    return this.#post(path, to === undefined ? {} : { target_worker_id: to });
  }

  rebalance(): Promise<{ readonly migrations: readonly MigrationEntry[] }> {
    return this.#post(`${cluster}/rebalance`);
  }

  scaling(): Promise<ScalingAnswer> {
    return this.#get(`${cluster}/scaling`);
  }

  /** As the leader has heard it. */
  metrics(): Promise<ClusterMetricsAnswer> {
    return this.#get(`${cluster}/metrics`);
  }

  topology(): Promise<TopologyAnswer> {
    return this.#get(`${cluster}/topology`);
  }

  #get<T>(path: string): Promise<T> {
    return this.#http.request({ method: 'GET', path });
  }

  #post<T>(path: string, body?: object): Promise<T> {
    return this.#send('POST', path, body === undefined ? undefined : JSON.stringify(body));
  }

  /** With a key, so that it can be repeated. */
  #send<T>(method: 'POST' | 'PUT', path: string, body: string | undefined): Promise<T> {
    return this.#http.request({ method, path, ...(body === undefined ? {} : { body }), idempotencyKey: randomUUID() });
  }

  /** Every entry of a list that comes in pages, without members around it. */
  async #all<Entry>(path: string): Promise<Entry[]> {
    const all: Entry[] = [];
    for (;;) {
      const page = await this.#get<readonly Entry[]>(`${path}?limit=${limits.pageEntriesMax}&offset=${all.length}`);
      all.push(...page);
      if (page.length < limits.pageEntriesMax) return all;
    }
  }
}
