import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { CepError } from '../../shared/errors/error.ts';
import { nearestName } from '../../shared/language/diagnostics/nearest-name.ts';
import { limits } from '../../shared/limits.ts';
import type { batchInjectedSchema } from '../../shared/protocol/events.ts';
import type {
  deletedSchema,
  deployedSchema,
  pipelineListSchema,
  pipelineMetricsSchema,
  pipelineSchema,
  reloadReportSchema,
} from '../../shared/protocol/pipelines.ts';
import type { healthSchema, readySchema } from '../../shared/protocol/probes.ts';
import type { usageSchema } from '../../shared/protocol/tenants.ts';
import type { HttpClient } from './http-client.ts';

export type DeployedAnswer = Static<typeof deployedSchema>;
export type PipelineEntry = Static<typeof pipelineSchema>;
export type PipelineMetricsAnswer = Static<typeof pipelineMetricsSchema>;
export type ReloadPlan = Static<typeof reloadReportSchema>;
export type InjectAnswer = Static<typeof batchInjectedSchema>;
export type UsageAnswer = Static<typeof usageSchema>;
export type HealthAnswer = Static<typeof healthSchema>;
export type ReadyAnswer = Static<typeof readySchema>;

export interface Deployment {
  readonly name: string;
  readonly source: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Reload {
  readonly source: string;
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

/** What client commands ask a server for. Every method throws the `CepError` of what the server refuses. */
export class ServerApi {
  readonly http: HttpClient;

  constructor(http: HttpClient) {
    this.http = http;
  }

  get url(): string {
    return this.http.url;
  }

  deploy({ name, source, labels }: Deployment): Promise<DeployedAnswer> {
    const body = { name, source, ...(Object.keys(labels).length === 0 ? {} : { labels }) };
    return this.#post('/api/v1/pipelines', JSON.stringify(body));
  }

  /** All of them, oldest first. */
  async pipelines(): Promise<PipelineEntry[]> {
    const all: PipelineEntry[] = [];
    for (;;) {
      const path = `/api/v1/pipelines?limit=${limits.pageEntriesMax}&offset=${all.length}`;
      const { pipelines, total } = await this.#get<Static<typeof pipelineListSchema>>(path);
      all.push(...pipelines);
      if (pipelines.length === 0 || all.length >= total) return all;
    }
  }

  /** The pipeline with this id, else the one with this name. @throws CepError `pipeline_not_found` */
  async pipeline(idOrName: string): Promise<PipelineEntry> {
    try {
      return await this.#get(pathOf(idOrName));
    } catch (error) {
      if (!(error instanceof CepError && error.code === 'pipeline_not_found')) throw error;
      const all = await this.pipelines();
      const named = all.find(({ name }) => name === idOrName);
      if (named) return named;
      const names = all.map(({ name }) => name);
      throw unknownPipeline(idOrName, nearestName(idOrName, names), error);
    }
  }

  metrics(id: string): Promise<PipelineMetricsAnswer> {
    return this.#get(`${pathOf(id)}/metrics`);
  }

  remove(id: string): Promise<Static<typeof deletedSchema>> {
    return this.http.request({ method: 'DELETE', path: pathOf(id) });
  }

  reload(id: string, { source, isDryRun, acceptsReset }: Reload): Promise<ReloadPlan> {
    return this.#post(`${pathOf(id)}/reload`, JSON.stringify({ source, dry_run: isDryRun, accept_reset: acceptsReset }));
  }

  inject(id: string, { lines, isDurable, hasOutputs }: Injection): Promise<InjectAnswer> {
    const path = `${pathOf(id)}/events-batch?durable=${isDurable}&outputs=${hasOutputs}`;
    return this.#post(path, lines, 'application/x-ndjson');
  }

  /** The bytes of the stream of outputs; `after` resumes behind that sequence number. */
  outputs(id: string, after: string | undefined, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': after }) };
    return this.http.stream(`${pathOf(id)}/logs`, headers, signal);
  }

  usage(): Promise<UsageAnswer> {
    return this.#get('/api/v1/usage');
  }

  health(): Promise<HealthAnswer> {
    return this.#get('/health');
  }

  /** @throws CepError `not_ready` at once, when requests are refused at the moment */
  readiness(): Promise<ReadyAnswer> {
    return this.http.request({ method: 'GET', path: '/ready', isPatient: false });
  }

  #get<T>(path: string): Promise<T> {
    return this.http.request({ method: 'GET', path });
  }

  #post<T>(path: string, body: string, contentType?: string): Promise<T> {
    const request = { method: 'POST', path, body, idempotencyKey: randomUUID() } as const;
    return this.http.request(contentType === undefined ? request : { ...request, contentType });
  }
}

function pathOf(id: string): string {
  return `/api/v1/pipelines/${encodeURIComponent(id)}`;
}

function unknownPipeline(idOrName: string, nearest: string | undefined, cause: CepError): CepError {
  const hint = nearest === undefined ? cause.hint : `did you mean '${nearest}'?`;
  return new CepError('pipeline_not_found', `no pipeline has the id or the name '${idOrName}'`, {
    cause,
    ...(hint === undefined ? {} : { hint }),
  });
}
