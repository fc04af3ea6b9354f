import type { IncomingHttpHeaders } from 'node:http';

const exposedHeaders = 'x-request-id, retry-after, x-total-count';
const allowedHeaders = 'content-type, x-api-key, authorization, idempotency-key, x-request-id, traceparent, last-event-id';

/** Which other web pages may use the service. Closed unless origins are named; `*` names all. */
export class Origins {
  readonly #allowed: ReadonlySet<string>;

  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((origin) => origin.replace(/\/$/, '').toLowerCase()));
  }

  get areNamed(): boolean {
    return this.#allowed.size > 0;
  }

  /** True for requests of no page, of the service's own pages, and of the named origins. */
  admits(headers: IncomingHttpHeaders): boolean {
    const { origin, host } = headers;
    return origin === undefined || this.#isNamed(origin) || hostOf(origin) === host?.toLowerCase();
  }

  /** Headers by which a browser lets a page of a named origin read the answer; none for others. */
  headersFor({ origin }: IncomingHttpHeaders): Readonly<Record<string, string>> {
    if (!this.areNamed) return {};
    if (origin === undefined || !this.#isNamed(origin)) return { vary: 'Origin' };
    return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders };
  }

  /** The same for the question that a browser asks before a request. */
  preflightHeadersFor(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
    const granted = this.headersFor(headers);
    if (granted['access-control-allow-origin'] === undefined) return granted;
    return {
      ...granted,
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': '600',
    };
  }

  #isNamed(origin: string): boolean {
    return this.#allowed.has('*') || this.#allowed.has(origin.toLowerCase());
  }
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
}
