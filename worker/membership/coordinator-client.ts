import type { WebDoor } from '../../shared/outbound/web-door.ts';

/** For one request to one member. */
const ANSWER_MS = 8_000;

export interface CoordinatorRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Behind `/api/v1/cluster`. */
  readonly path: string;
  /** JSON, or bytes as they are. What says how things are now is made for each try: one may take seconds. */
  readonly body?: object | Uint8Array | (() => object);
  /** For one try. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Whether a good answer says what it has to: one that does not is none, and comes from something between us. @default it always does */
  readonly isAnswer?: (bytes: Buffer) => boolean;
}

export interface CoordinatorAnswer {
  readonly status: number;
  readonly bytes: Buffer;
  /** Of the error, where it is one. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

export interface CoordinatorClientOptions {
  /** At least one. */
  readonly urls: readonly string[];
  readonly apiKey: string | undefined;
  readonly web: WebDoor;
}

/** No member of the cluster gave an answer that says anything. */
export class NoCoordinator extends Error {
  override readonly name = 'NoCoordinator';
}

/** Answers that another member may have a better one to. */
const elsewhere = new Set(['not_leader', 'no_leader', 'not_ready', 'overloaded']);

/** The coordinators as a worker sees them: one group, whichever member answers. */
export class CoordinatorClient {
  readonly #given: readonly string[];
  readonly #apiKey: string | undefined;
  readonly #web: WebDoor;
  /** The first is asked first. */
  #urls: readonly string[];

  constructor({ urls, apiKey, web }: CoordinatorClientOptions) {
    this.#given = urls;
    this.#urls = urls;
    this.#apiKey = apiKey;
    this.#web = web;
  }

  /** Who is asked first. */
  get url(): string {
    return this.#urls[0] as string;
  }

  /** The members as one of them names them; those that were given at the start stay behind them, as all of these may be gone one day. */
  learn(urls: readonly string[]): void {
    const known = new Set(urls.length === 0 ? this.#urls : [this.url, ...urls, ...this.#given]);
    this.#urls = [...known];
  }

  /** Asks one member after the other until one gives an answer that counts. @throws NoCoordinator with what each did instead */
  async ask(request: CoordinatorRequest): Promise<CoordinatorAnswer> {
    const reasons: string[] = [];
    for (let tries = this.#urls.length; tries > 0; tries--) {
      const url = this.url;
      try {
        const answer = await this.#askOne(url, request);
        const isAnswer = answer.status >= 300 || (request.isAnswer?.(answer.bytes) ?? true);
        if (isAnswer && answer.status < 500 && !elsewhere.has(answer.code ?? '')) return answer;
        reasons.push(`${url}: ${answer.status} ${isAnswer ? (answer.message ?? '') : 'with what no coordinator says'}`);
      } catch (error) {
        reasons.push(`${url}: ${reasonOf(error)}`);
      }
      if (request.signal?.aborted) break;
      this.#turn(url);
    }
    throw new NoCoordinator(reasons.join('; '));
  }

  /** The next one is asked first, unless another request has turned already. */
  #turn(url: string): void {
    if (this.url === url) this.#urls = [...this.#urls.slice(1), url];
  }

  async #askOne(url: string, request: CoordinatorRequest): Promise<CoordinatorAnswer> {
    const { method, path, deadlineMs = ANSWER_MS, signal } = request;
    const body = typeof request.body === 'function' ? request.body() : request.body;
    const isJson = body !== undefined && !(body instanceof Uint8Array);
    const answer = await this.#web.request(new URL(`${url.replace(/\/+$/, '')}/api/v1/cluster${path}`), {
      method,
      body: body === undefined ? null : isJson ? JSON.stringify(body) : (body as Uint8Array),
      headers: {
        ...(this.#apiKey === undefined ? {} : { 'x-api-key': this.#apiKey }),
        ...(body === undefined ? {} : { 'content-type': isJson ? 'application/json' : 'application/octet-stream' }),
      },
      deadlineMs,
      ...(signal === undefined ? {} : { signal }),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    return { status: answer.statusCode, bytes, ...(answer.statusCode < 400 ? noError : errorIn(bytes)) };
  }
}

const noError = { code: undefined, message: undefined };

function errorIn(bytes: Buffer): Pick<CoordinatorAnswer, 'code' | 'message'> {
  try {
    const { code, error } = JSON.parse(bytes.toString('utf8')) as { readonly code?: unknown; readonly error?: unknown };
    return { code: typeof code === 'string' ? code : undefined, message: typeof error === 'string' ? error : undefined };
  } catch {
    return noError; // Something between us and the coordinator has answered.
  }
}

/** Codes of a certificate whose authority is not known here. */
const untrusted = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/;

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const message = error.message === '' ? (code ?? error.name) : error.message;
  return untrusted.test(code ?? '') ? `${message} (name the PEM file of its authority with --tls-ca)` : message;
}
