import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { limits } from '../../shared/limits.ts';
import type { backupSchema } from '../../shared/protocol/backups.ts';
import type { checkpointSchema, restoredSchema } from '../../shared/protocol/checkpoints.ts';
import type {
  memberAddedSchema,
  memberPromotedSchema,
  memberRemovedSchema,
  raftStatusSchema,
  transferredSchema,
} from '../../shared/protocol/cluster.ts';
import type { batchInjectedSchema } from '../../shared/protocol/events.ts';
import type { alertSchema, alertWithCausesSchema, tenantMetricsSchema } from '../../shared/protocol/overview.ts';
import type {
  clearedSchema,
  deadLettersSchema,
  deletedSchema,
  deployedSchema,
  pipelineMetricsSchema,
  pipelineSchema,
  reloadReportSchema,
  replayedSchema,
} from '../../shared/protocol/pipelines.ts';
import type { healthSchema, readySchema } from '../../shared/protocol/probes.ts';
import type { topologySchema, validationSchema } from '../../shared/protocol/program.ts';
import type { tenantCreatedSchema, tenantRequestSchema, tenantSchema, usageSchema } from '../../shared/protocol/tenants.ts';
import type { SentProgram } from '../program/program-to-send.ts';
import type { HttpClient } from './http-client.ts';

export type DeployedAnswer = Static<typeof deployedSchema>;
export type ValidationAnswer = Static<typeof validationSchema>;
export type PipelineEntry = Static<typeof pipelineSchema>;
export type PipelineMetricsAnswer = Static<typeof pipelineMetricsSchema>;
export type ReloadPlan = Static<typeof reloadReportSchema>;
export type AlertAnswer = Static<typeof alertSchema>;
export type OneAlertAnswer = Static<typeof alertWithCausesSchema>;
export type InjectAnswer = Static<typeof batchInjectedSchema>;
export type CheckpointAnswer = Static<typeof checkpointSchema>;
export type RestoreAnswer = Static<typeof restoredSchema>;
export type DeadLettersAnswer = Static<typeof deadLettersSchema>;
export type UsageAnswer = Static<typeof usageSchema>;
export type TenantRequest = Static<typeof tenantRequestSchema>;
export type TenantEntry = Static<typeof tenantSchema>;
export type NewTenant = Static<typeof tenantCreatedSchema>;
export type RaftStatusAnswer = Static<typeof raftStatusSchema>;
export type HealthAnswer = Static<typeof healthSchema>;
export type TopologyAnswer = Static<typeof topologySchema>;
export type TenantMetricsAnswer = Static<typeof tenantMetricsSchema>;
export type ReadyAnswer = Static<typeof readySchema>;

/** Of the dead letters those with all of this. */
export interface LetterChoice {
  readonly connector?: string | undefined;
  readonly code?: string | undefined;
  readonly id?: string | undefined;
}

export interface Deployment {
  readonly name: string;
  readonly program: SentProgram;
  readonly labels: Readonly<Record<string, string>>;
  /** Its alerts are kept with the events that made them. @default false */
  readonly isWatched?: boolean;
}

export interface Reload {
  readonly program: SentProgram;
  readonly isDryRun: boolean;
  /** Whether state may be lost. */
  readonly acceptsReset: boolean;
}

export interface Injection {
  /** JSON lines. */
  readonly lines: string;
  readonly isDurable: boolean;
  readonly hasOutputs: boolean;
}

/** Some members of an answer by which it is known. */
export type Members<T> = readonly (keyof T & string)[];

/** What client commands ask a server for. Every method throws the `CepError` of what the server refuses. */
export class ServerApi {
  readonly http: HttpClient;

  constructor(http: HttpClient) {
    this.http = http;
  }

  get url(): string {
    return this.http.url;
  }

  deploy({ name, program, labels, isWatched = false }: Deployment): Promise<DeployedAnswer> {
    const body = { name, ...program, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...(isWatched && { watched: true }) };
    return this.#post('/api/v1/pipelines', ['id'], JSON.stringify(body));
  }

  /** What the server says of a program, which it does not keep. */
  validate(program: SentProgram): Promise<ValidationAnswer> {
    return this.#once('POST', '/api/v1/validate', ['diagnostics'], JSON.stringify(program));
  }

  /** All of them, oldest first. */
  pipelines(): Promise<PipelineEntry[]> {
    return this.#all('/api/v1/pipelines', 'pipelines');
  }

  /** The pipeline with this id, else the one with this name. @throws CepError `pipeline_not_found` */
  async pipeline(idOrName: string): Promise<PipelineEntry> {
    try {
      return await this.#get(pathOf(idOrName), ['id', 'name']);
    } catch (error) {
      if (!(error instanceof CepError && error.code === 'pipeline_not_found')) throw error;
      const all = await this.pipelines();
      const named = all.find(({ name }) => name === idOrName);
      if (named) return named;
      throw unknownName(error, { what: 'pipeline', idOrName, known: all });
    }
  }

  metrics(id: string): Promise<PipelineMetricsAnswer> {
    return this.#get(`${pathOf(id)}/metrics`, ['streams']);
  }

  topology(id: string): Promise<TopologyAnswer> {
    return this.#get(`${pathOf(id)}/topology`, ['nodes']);
  }

  /** What the pipelines of the tenant have counted; of more than one page the first. */
  allMetrics(): Promise<TenantMetricsAnswer> {
    return this.#get(`/api/v1/metrics?limit=${limits.pageEntriesMax}`, ['pipelines', 'totals']);
  }

  remove(id: string): Promise<Static<typeof deletedSchema>> {
    return this.#once('DELETE', pathOf(id), ['deleted']);
  }

  reload(id: string, { program, isDryRun, acceptsReset }: Reload): Promise<ReloadPlan> {
    return this.#post(`${pathOf(id)}/reload`, ['reloaded'], JSON.stringify({ ...program, dry_run: isDryRun, accept_reset: acceptsReset }));
  }

  /** A pipeline that is stopped already stays so. */
  stop(id: string): Promise<PipelineEntry> {
    return this.#post(`${pathOf(id)}/stop`, ['id']);
  }

  start(id: string): Promise<PipelineEntry> {
    return this.#post(`${pathOf(id)}/start`, ['id']);
  }

  /** Whether its alerts are kept with the events that made them, from now on. */
  watch(id: string, enabled: boolean): Promise<PipelineEntry> {
    return this.#post(`${pathOf(id)}/watch`, ['id'], JSON.stringify({ enabled }));
  }

  /** The newest so many, of all pipelines or of one. */
  async alerts(limit: number, pipelineId?: string): Promise<readonly AlertAnswer[]> {
    const query = queryOf({ limit: String(limit), pipeline_id: pipelineId });
    return (await this.#get<{ readonly alerts: readonly AlertAnswer[] }>(`/api/v1/alerts${query}`, ['alerts'])).alerts;
  }

  alert(id: string, sequence: number): Promise<OneAlertAnswer> {
    return this.#get(`${pathOf(id)}/alerts/${sequence}`, ['causes']);
  }

  checkpoint(id: string): Promise<CheckpointAnswer> {
    return this.#post(`${pathOf(id)}/checkpoint`, ['checkpoint']);
  }

  /** `document`: JSON text as `checkpoint` gave it. Sent once: a repeat would undo what came in between. */
  restore(id: string, document: string): Promise<RestoreAnswer> {
    return this.#once('POST', `${pathOf(id)}/restore`, ['restored'], document);
  }

  /** The oldest so many, and how many there are. */
  deadLetters(id: string, limit: number, choice: LetterChoice = {}): Promise<DeadLettersAnswer> {
    return this.#get(`${pathOf(id)}/dlq${queryOf({ limit: String(limit), ...choice })}`, ['entries', 'total']);
  }

  replayDeadLetters(id: string, choice: LetterChoice = {}): Promise<Static<typeof replayedSchema>> {
    return this.#once('POST', `${pathOf(id)}/dlq/replay${queryOf(choice)}`, ['replayed']);
  }

  clearDeadLetters(id: string, choice: LetterChoice = {}): Promise<Static<typeof clearedSchema>> {
    return this.#once('DELETE', `${pathOf(id)}/dlq${queryOf(choice)}`, ['cleared']);
  }

  /** Why a stream gave what it gave, as JSON. */
  explain(id: string, stream: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#get(`${pathOf(id)}/explain?stream=${encodeURIComponent(stream)}`, []);
  }

  inject(id: string, { lines, isDurable, hasOutputs }: Injection): Promise<InjectAnswer> {
    const path = `${pathOf(id)}/events-batch?durable=${isDurable}&outputs=${hasOutputs}`;
    return this.#post(path, ['accepted', 'errors'], lines, 'application/x-ndjson');
  }

  /** The bytes of the stream of outputs; `after` resumes behind that sequence number. */
  outputs(id: string, after: string | undefined, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': after }) };
    return this.http.stream(`${pathOf(id)}/logs`, headers, signal);
  }

  usage(): Promise<UsageAnswer> {
    return this.#get('/api/v1/usage', ['quota']);
  }

  /** All of them, oldest first. */
  tenants(): Promise<TenantEntry[]> {
    return this.#all('/api/v1/tenants', 'tenants');
  }

  /** The tenant with this id, else the one with this name. @throws CepError `tenant_not_found` */
  async tenant(idOrName: string): Promise<TenantEntry> {
    const known = await this.tenants();
    const found = known.find(({ id }) => id === idOrName) ?? known.find(({ name }) => name === idOrName);
    if (found) return found;
    throw unknownName(new CepError('tenant_not_found', '', { hint: "'cep tenants' lists those there are" }), {
      what: 'tenant',
      idOrName,
      known,
    });
  }

  backUp(): Promise<Static<typeof backupSchema>> {
    return this.#post('/api/v1/backups', ['path']);
  }

  createTenant(tenant: TenantRequest): Promise<NewTenant> {
    return this.#post('/api/v1/tenants', ['api_key'], JSON.stringify(tenant));
  }

  removeTenant(id: string): Promise<Static<typeof deletedSchema>> {
    return this.#once('DELETE', `/api/v1/tenants/${encodeURIComponent(id)}`, ['deleted']);
  }

  raftStatus(): Promise<RaftStatusAnswer> {
    return this.#get('/api/v1/cluster/raft/status', ['nodes']);
  }

  addMember(id: number, url: string): Promise<Static<typeof memberAddedSchema>> {
    return this.#post('/api/v1/cluster/raft/members', ['id'], JSON.stringify({ id, url }));
  }

  promoteMember(id: number): Promise<Static<typeof memberPromotedSchema>> {
    return this.#post(`/api/v1/cluster/raft/members/${id}/promote`, ['id']);
  }

  removeMember(id: number): Promise<Static<typeof memberRemovedSchema>> {
    return this.#once('DELETE', `/api/v1/cluster/raft/members/${id}`, ['removed']);
  }

  /** To the member with most entries when none is named. Sent once: a repeat could hand on what the first has handed over. */
  transferLeadership(to: number | undefined): Promise<Static<typeof transferredSchema>> {
    const body = JSON.stringify(to === undefined ? {} : { to });
    return this.#once('POST', '/api/v1/cluster/raft/transfer', ['leader_id'], body);
  }

  health(): Promise<HealthAnswer> {
    return this.#get('/health', ['version', 'uptime_seconds']);
  }

  /** @throws CepError `not_ready` at once, when requests are refused at the moment */
  readiness(): Promise<ReadyAnswer> {
    return this.http.request({ method: 'GET', path: '/ready', isPatient: false, expected: ['pipelines'] });
  }

  #get<T>(path: string, expected: Members<T>): Promise<T> {
    return this.http.request({ method: 'GET', path, expected });
  }

  #once<T>(method: 'POST' | 'DELETE', path: string, expected: Members<T>, body?: string): Promise<T> {
    return this.http.request({ method, path, expected, ...(body === undefined ? {} : { body }) });
  }

  /** Every entry of a list that comes in pages. */
  async #all<Entry, Name extends string>(path: string, name: Name): Promise<Entry[]> {
    const all: Entry[] = [];
    for (;;) {
      const page = await this.#get<{ readonly [N in Name]: readonly Entry[] } & { readonly total: number }>(
        `${path}?limit=${limits.pageEntriesMax}&offset=${all.length}`,
        [name, 'total'],
      );
      all.push(...page[name]);
      if (page[name].length === 0 || all.length >= page.total) return all;
    }
  }

  /** Can be repeated: the server knows the key, or the request asks for what may be done twice. */
  #post<T>(path: string, expected: Members<T>, body?: string, contentType?: string): Promise<T> {
    const request = { method: 'POST', path, expected, ...(body === undefined ? {} : { body }), idempotencyKey: randomUUID() } as const;
    return this.http.request(contentType === undefined ? request : { ...request, contentType });
  }
}

function pathOf(id: string): string {
  return `/api/v1/pipelines/${encodeURIComponent(id)}`;
}

interface Sought {
  readonly what: 'pipeline' | 'tenant';
  readonly idOrName: string;
  readonly known: readonly { readonly name: string }[];
}

function unknownName(cause: CepError, { what, idOrName, known }: Sought): CepError {
  const nearest = nearestName(
    idOrName,
    known.map(({ name }) => name),
  );
  const hint = nearest === undefined ? cause.hint : `did you mean '${nearest}'?`;
  return new CepError(cause.code, `no ${what} has the id or the name '${idOrName}'`, { cause, ...(hint === undefined ? {} : { hint }) });
}

/** A query of what is given, with its mark; empty where nothing is. */
function queryOf(parameters: Readonly<Record<string, string | undefined>> | LetterChoice): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
