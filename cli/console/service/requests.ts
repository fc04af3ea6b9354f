import { link, linkIsLocked, linkIsLost, linkIsOpen, linkIsUnready } from './link.ts';
import { apiKey, forgetKey } from './session.ts';

const timeoutMs = 30_000;

/** A refusal of the server, in its own words. */
export class ServerError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: unknown;
  /** For how long it is of no use to ask again; undefined when it does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfter: string | null = null) {
    super(typeof body['error'] === 'string' ? body['error'] : `the server answered with status ${status}`);
    this.status = status;
    this.code = typeof body['code'] === 'string' ? body['code'] : '';
    this.hint = typeof body['hint'] === 'string' ? body['hint'] : undefined;
    this.details = body['details'];
    this.retryAfterMs = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : undefined;
  }
}

/** Nothing answered. */
class LinkError extends Error {}

export interface Asking {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The key goes with every request, and into no URL. */
export function keyHeaders(key: string | null): Record<string, string> {
  return key === null ? {} : { 'x-api-key': key };
}

/** Asks the server. @throws ServerError, LinkError */
export async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
  return (await (await answerTo(path, asking)).json()) as T;
}

/** The same, with the headers of the answer. */
export async function answerTo(path: string, { method = 'GET', body, headers = {}, signal }: Asking = {}): Promise<Response> {
  const key = apiKey();
  const response = await send(path, {
    method,
    headers: { ...keyHeaders(key), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: signal ? AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) : AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw await refusalOf(response, key);
  linkIsOpen();
  return response;
}

/** @throws ServerError, LinkError; an abort as it is */
export async function send(path: string, init: RequestInit): Promise<Response> {
  if (hasDots(path)) throw new ServerError(404, { error: `no path ${path}`, code: 'not_found' });
  try {
    return await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    linkIsLost();
    throw new LinkError('the server does not answer');
  }
}

/**
 * What a refusal says; keys and readiness concern the whole console. `key`: what the request carried, which may not be the one that
 * is kept by the time of the answer.
 */
export async function refusalOf(response: Response, key: string | null): Promise<ServerError> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const error = new ServerError(response.status, body, response.headers.get('retry-after'));
  if (error.status === 401) {
    if (key !== apiKey()) return error;
    if (link.value.state !== 'locked') linkIsLocked(key !== null);
    forgetKey();
  } else if (error.code === 'not_ready') linkIsUnready(error.message);
  else if (isOfProxy(error)) linkIsLost();
  else linkIsOpen();
  return error;
}

/** Of one that stands before a server which is away: refusals of the server have a code. */
function isOfProxy({ status, code }: ServerError): boolean {
  return code === '' && status >= 502 && status <= 504;
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

/** Browsers take such parts out of an address, however they are written: something else would be asked for. */
function hasDots(path: string): boolean {
  return (path.split('?', 1)[0] ?? '').split('/').some((part) => part === '.' || part === '..');
}
