import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import type { Route } from '../../shared/http/route.ts';
import { Redactor } from '../../shared/security/redaction.ts';
import { Telemetry } from '../../shared/telemetry/internal-events.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../shared/telemetry/metric-registry.ts';
import { createRuntime } from '../../worker/runtime/runtime.ts';
import type { Runtime, RuntimeOptions } from '../../worker/runtime/service.ts';
import { createServer, type Server, type ServerOptions } from '../../worker/server/server.ts';
import { type Answer, ask, holdToRoutes } from './declared-answer.ts';

export interface RequestOptions {
  /** Undefined = the server's key, null = none. */
  readonly key?: string | null;
  /** Data to be sent as JSON; text and bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const serverKey = 'the-key-of-the-server';

/** A server upon the real runtime, in this process. Each of its answers is held against what its route declares. */
export class Service {
  readonly runtime: Runtime;
  readonly server: Server;
  readonly url: string;
  /** Lines of the log, as JSON. */
  readonly log: string[];
  readonly #key: string | undefined;

  private constructor(parts: Pick<Service, 'runtime' | 'server' | 'url' | 'log'>, key: string | undefined) {
    this.runtime = parts.runtime;
    this.server = parts.server;
    this.url = parts.url;
    this.log = parts.log;
    this.#key = key;
  }

  /** @param options `apiKey: null` = authentication is off. */
  static async start(
    options: Partial<ServerOptions> & Omit<Partial<RuntimeOptions>, 'apiKey'> & { readonly apiKey?: string | null } = {},
  ): Promise<Service> {
    const { apiKey = serverKey, ...rest } = options;
    const log: string[] = [];
    const redactor = new Redactor();
    if (apiKey !== null) redactor.add(apiKey);
    const metrics = new MetricRegistry();
    const logger = createLogger({ level: 'debug', format: 'json', timestamps: true, redactor, write: (line) => log.push(line), metrics });
    const telemetry = new Telemetry(logger, metrics, options.tracer);
    const runtime = await createRuntime({
      engineThreads: 1,
      report: ({ level, message, fields }) => logger.log(level, message, fields),
      ...(apiKey === null ? {} : { apiKey }),
      ...rest,
    });
    const server = await createServer({ runtime, telemetry, version: '1.2.3', rateLimit: 0, corsOrigins: [], ...rest });
    await server.api.listen({ port: 0, host: '127.0.0.1' });
    await server.metrics?.listen({ port: 0, host: '127.0.0.1' });
    await runtime.start();
    const { port } = server.api.server.address() as AddressInfo;
    return new Service({ runtime, server, url: `http://127.0.0.1:${port}`, log }, apiKey ?? undefined);
  }

  get metricsUrl(): string {
    const address = this.server.metrics?.server.address();
    const { port } = address as AddressInfo;
    return `http://127.0.0.1:${port}/metrics`;
  }

  async close(): Promise<void> {
    await this.runtime.shutdown({ deadlineMs: 5_000 });
    await this.server.close();
  }

  async request(method: string, path: string, { key, body, headers = {} }: RequestOptions = {}): Promise<Answer> {
    const presented = key === undefined ? this.#key : (key ?? undefined);
    const answer = await ask({ method, url: `${this.url}${path}`, key: presented, body, headers });
    holdToRoutes(this.server.routes as readonly Route<never>[], { method, path, answer });
    return answer;
  }

  get(path: string, options?: RequestOptions): Promise<Answer> {
    return this.request('GET', path, options);
  }

  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer> {
    return this.request('POST', path, { ...options, ...(body === undefined ? {} : { body }) });
  }

  delete(path: string, options?: RequestOptions): Promise<Answer> {
    return this.request('DELETE', path, options);
  }

  /** Deploys a program under a name of its own and gives the path of the pipeline. */
  async deploy(source: string, { key, name = uniqueName() }: { key?: string; name?: string } = {}): Promise<string> {
    const answer = await this.post('/api/v1/pipelines', { name, source }, key === undefined ? {} : { key });
    expect(answer).toMatchObject({ status: 201 });
    return `/api/v1/pipelines/${answer.body.id}`;
  }

  /** A tenant of its own. */
  async tenant(changes: object = {}): Promise<{ readonly id: string; readonly key: string }> {
    const { body } = await this.post('/api/v1/tenants', { name: uniqueName(), plan: 'enterprise', ...changes });
    return { id: body.id, key: body.api_key };
  }
}

export type { Answer };

let names = 0;

export function uniqueName(): string {
  return `name-${++names}`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A program that alerts above 30. */
export const hot = `event Reading:
    sensor: str
    value: float

stream Hot = Reading.where(value > 30).emit(sensor: sensor, value: value)
`;

export const reading = (value: unknown, more: object = {}): object => ({ event_type: 'Reading', fields: { sensor: 'a', value }, ...more });
