import { setTimeout as sleep } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { CepError } from '../../shared/errors/error.ts';
import { OutboundDoor } from '../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../shared/security/network-policy.ts';
import { type Expected, type RawAnswer, refusalOf, successOf } from './answer-error.ts';
import type { ClientSettings } from './client-settings.ts';
import { transportFailure } from './transport-error.ts';

const CONNECT_MS_MAX = 10_000;
/** The server of a stream says something every 15 seconds. */
const STREAM_SILENCE_MS_MAX = 45_000;
const LOST_ATTEMPTS_MAX = 3;
const LOST_PAUSE_MS = 200;
/** How long a request is repeated that the server puts off, as when a queue is full, where nobody has said how long to wait. */
const REFUSED_MS_MAX = 60_000;
/** Who waits for so long is told why. */
const TOLD_AFTER_MS = 5_000;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind the server's URL; begins with a slash. */
  readonly path: string;
  readonly body?: string;
  /** @default application/json */
  readonly contentType?: string;
  /** Makes a POST one that can be repeated: the server answers a repeat with the first answer. */
  readonly idempotencyKey?: string;
  /** What an answer of ours is. @default anything that is JSON */
  readonly expected?: Expected;
  /** False: an answer that puts off is given at once. @default true */
  readonly isPatient?: boolean;
}

/** What can come of one attempt. */
type Outcome =
  | { readonly answer: RawAnswer }
  | { readonly error: CepError; readonly pauseMs: number | undefined; readonly isPutOff: boolean };

export interface HttpClientWorld {
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Monotonic, ms. */
  readonly now?: () => number;
  /** Says why nothing has come of a request yet. @default nobody is told */
  readonly note?: (text: string) => void;
}

/**
 * Requests to one server. What is lost on the way is sent again when that cannot do a thing twice: a GET, or a POST with an
 * idempotency key. What the server puts off (429, 503 with a time) was not done, and is sent again when that time has passed.
 */
export class HttpClient {
  readonly url: string;
  readonly #settings: ClientSettings;
  readonly #world: Required<HttpClientWorld>;
  readonly #web: WebDoor;
  #isStale = false;

  constructor(settings: ClientSettings, world: HttpClientWorld = {}) {
    const { url, timeoutMs, ca } = settings;
    this.url = url;
    this.#settings = settings;
    this.#world = { pause: sleep, now: () => performance.now(), note: () => undefined, ...world };
    this.#web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), {
      connectMs: Math.min(timeoutMs, CONNECT_MS_MAX),
      silenceMs: timeoutMs,
      ca,
    });
  }

  /** Some answer came from a coordinator that knows of no leader, so that it may show what was, or not all there is. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /**
   * The body of the answer, read as JSON. The last attempt begins within the time that the settings give, or within a minute where the server
   * puts off and nobody has said how long to wait. @throws CepError that says why there is none, or what the server refuses
   */
  async request<T>(request: ApiRequest): Promise<T> {
    return successOf(await this.#answered(request), request.expected ?? [], this.#settings) as T;
  }

  /** The same of a page of a list without members around it. `total`: of the list, where the answer says it. @throws CepError as `request` */
  async page<Entry>(path: string): Promise<{ readonly entries: readonly Entry[]; readonly total: number | undefined }> {
    const answer = await this.#answered({ method: 'GET', path });
    const entries = successOf(answer, 'list', this.#settings) as readonly Entry[];
    const total = answer.headers['x-total-count'];
    return { entries, total: typeof total === 'string' && /^\d{1,15}$/.test(total) ? Number(total) : undefined };
  }

  async #answered(request: ApiRequest): Promise<RawAnswer> {
    const { timeoutMs, patienceMs = Math.max(timeoutMs, REFUSED_MS_MAX) } = this.#settings;
    const { pause, now, note } = this.#world;
    const began = now();
    let isTold = false;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(request, attempt);
      if ('answer' in outcome) return outcome.answer;
      const { error, pauseMs, isPutOff } = outcome;
      if (pauseMs === undefined) throw error;
      const nextMs = now() - began + pauseMs;
      if (nextMs > (isPutOff ? patienceMs : timeoutMs)) throw error;
      if (!isTold && nextMs >= TOLD_AFTER_MS) {
        isTold = true;
        note(`${error.message}: asking again`);
      }
      await pause(pauseMs);
    }
  }

  /** The pieces of an answer that has no end, as they come. @throws CepError as `request`, also between two pieces */
  async *stream(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      const {
        statusCode,
        headers: answered,
        body,
      } = await this.#web.request(this.#target(path), {
        method: 'GET',
        headers: { ...this.#headers(), ...headers },
        body: null,
        silenceMs: STREAM_SILENCE_MS_MAX,
        signal,
      });
      if (statusCode !== 200)
        throw refusalOf({ status: statusCode, headers: answered, body: await body.text() }, this.#settings, path).error;
      yield* body;
    } catch (cause) {
      throw cause instanceof CepError ? cause : transportFailure(cause, this.#settings).error;
    }
  }

  async close(): Promise<void> {
    await this.#web.close();
  }

  async #attempt(request: ApiRequest, attempt: number): Promise<Outcome> {
    const isRepeatable = request.method === 'GET' || request.idempotencyKey !== undefined;
    const lostPauseMs = isRepeatable && attempt < LOST_ATTEMPTS_MAX ? LOST_PAUSE_MS * attempt : undefined;
    try {
      const answer = await this.#send(request);
      if (answer.status >= 200 && answer.status < 300) return { answer };
      const { error, isUndone } = refusalOf(answer, this.#settings, request.path);
      if (isUndone)
        return { error, pauseMs: request.isPatient === false ? undefined : (error.retryAfterSeconds ?? 1) * 1000, isPutOff: true };
      return { error, pauseMs: isOfProxy(answer.status) ? lostPauseMs : undefined, isPutOff: false };
    } catch (cause) {
      const { error, mayHaveArrived } = transportFailure(cause, this.#settings);
      return { error, pauseMs: mayHaveArrived ? lostPauseMs : undefined, isPutOff: false };
    }
  }

  async #send({ method, path, body, contentType = 'application/json', idempotencyKey }: ApiRequest): Promise<RawAnswer> {
    const headers = {
      ...this.#headers(),
      ...(body === undefined ? {} : { 'content-type': contentType }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    const request = { method, headers, body: body ?? null };
    const { statusCode: status, headers: answered, body: answer } = await this.#web.request(this.#target(path), request);
    if (answered['x-cep-consistency'] === 'stale') this.#isStale = true;
    return { status, headers: answered, body: await answer.text() };
  }

  /** The URL of a server has no slash at its end. */
  #target(path: string): URL {
    return new URL(this.url + path);
  }

  #headers(): Record<string, string> {
    const { apiKey } = this.#settings;
    return { 'user-agent': `cep/${manifest.version}`, ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
  }
}

/** Statuses by which a proxy says that it could not reach the server. */
function isOfProxy(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}
