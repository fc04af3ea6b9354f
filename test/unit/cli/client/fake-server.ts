import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { type CepOptions, type CepResult, cep } from '../cep.ts';

export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer as data, or as what to do with the response. */
export type FakeAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly json?: unknown; readonly text?: string }
  | ((response: ServerResponse, request: SeenRequest) => void);

/** A server that gives the answers it was told to, by method and path without query; each path in turn, its last one again. */
export class FakeServer {
  readonly requests: SeenRequest[] = [];
  readonly #answers = new Map<string, FakeAnswer[]>();
  readonly #server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      this.#answer({ method, url, headers, body }, response);
    });
  });

  static async start(): Promise<FakeServer> {
    const fake = new FakeServer();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    afterAll(() => {
      fake.#server.closeAllConnections();
      fake.#server.close();
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What is asked with this method and path, as `GET /health`, is answered so; forgets what was answered before. */
  on(route: string, ...answers: readonly FakeAnswer[]): this {
    this.#answers.set(route, [...answers]);
    return this;
  }

  /** Forgets all answers and requests. */
  reset(): this {
    this.#answers.clear();
    this.requests.length = 0;
    return this;
  }

  /** Runs a client command against this server. */
  cep(args: readonly string[], options: CepOptions = {}): Promise<CepResult> {
    return cep(args, { ...options, env: { CEP_SERVER: this.url, ...options.env } });
  }

  #answer(request: SeenRequest, response: ServerResponse): void {
    this.requests.push(request);
    const route = `${request.method} ${request.url.replace(/\?.*/, '')}`;
    const answers = this.#answers.get(route) ?? [];
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? {
      status: 404,
      json: { error: `no ${route}`, code: 'not_found' },
    };
    if (typeof answer === 'function') {
      answer(response, request);
      return;
    }
    const { status = 200, headers = {}, json, text = JSON.stringify(json) } = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  }
}

/** An error as servers answer it. */
export function refusal(status: number, code: string, error: string, more: object = {}): FakeAnswer {
  return { status, json: { error, code, request_id: 'r1', ...more } };
}

/** A pipeline as servers show it. */
export const rules = {
  id: 'p_1',
  name: 'rules',
  status: 'running',
  source: 'event Login:\n    user: str\n    tries: int\n\nstream Many = Login.where(tries > 3).emit(user: user)',
  version: 2,
  created_at: 0,
  updated_at: 60_000,
  uptime_secs: 3725,
  events_processed: 12_345,
  output_events_emitted: 6,
  alerts_generated: 6,
};

/** The server knows the pipeline above, by its id and in its list. */
export function knowsRules(server: FakeServer): FakeServer {
  return server
    .reset()
    .on('GET /api/v1/pipelines/p_1', { json: rules })
    .on('GET /api/v1/pipelines/rules', refusal(404, 'pipeline_not_found', "there is no pipeline 'rules'"))
    .on('GET /api/v1/pipelines', { json: { pipelines: [rules], total: 1, pagination: {} } });
}
