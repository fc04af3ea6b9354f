import type { IncomingHttpHeaders } from 'node:http';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

const exposedHeaders = ['x-request-id', 'retry-after', 'x-total-count', 'etag'];
const allowedHeaders = [
  'content-type',
  'x-api-key',
  'authorization',
  'idempotency-key',
  'x-request-id',
  'traceparent',
  'last-event-id',
  'if-match',
];
const maxAgeSeconds = 600;

/** Which other web pages may use the service. Closed unless origins are named; `*` names all. */
export class Origins {
  readonly #allowed: ReadonlySet<string>;

  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((origin) => origin.replace(/\/$/, '').toLowerCase()));
  }

  /** True for requests of no page, of the service's own pages, and of the named origins. */
  admits(headers: IncomingHttpHeaders): boolean {
    const { origin, host } = headers;
    return origin === undefined || this.#isNamed(origin) || hostOf(origin) === host?.toLowerCase();
  }

  /** From here on browsers let pages of named origins read the answers; where none are named, nothing is said of origins. */
  async answerBrowsers(app: FastifyInstance): Promise<void> {
    if (this.#allowed.size === 0) return;
    await app.register(cors, {
      origin: (origin, decide) => decide(null, origin !== undefined && this.#isNamed(origin)),
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      allowedHeaders,
      exposedHeaders,
      maxAge: maxAgeSeconds,
      // The guard counts OPTIONS and answers it, after the headers of this plugin.
      preflightContinue: true,
      strictPreflight: false,
    });
  }

  #isNamed(origin: string): boolean {
    return this.#allowed.has('*') || this.#allowed.has(origin.toLowerCase());
  }
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
}
