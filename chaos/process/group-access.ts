import { request as send } from 'undici';

/** A request to one member. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Behind `/api/v1/cluster`. */
  readonly path: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
  /** @default 10 s */
  readonly deadlineMs?: number;
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each request knows what its answer holds.
  readonly body: any;
}

/** A group of coordinators, as a client has it that knows all of them. */
export interface GroupAccess {
  readonly ids: readonly number[];
  /** Rejects when the member is not there, or says nothing in time. */
  ask(id: number, request: Request): Promise<Answer>;
}

/** Asks the member that has a URL. Rejects as `GroupAccess.ask`. */
export async function askMember(url: string, key: string, request: Request): Promise<Answer> {
  const { method, path, body, idempotencyKey, deadlineMs = 10_000 } = request;
  // Not `fetch`: a thousand simulated workers would take more of the machine than the coordinators that they ask.
  const response = await send(`${url}/api/v1/cluster${path}`, {
    method,
    signal: AbortSignal.timeout(deadlineMs),
    headers: {
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.statusCode, body: await response.body.json() };
}

/** Whether nothing of a request was sent, by the error of it: nobody listened. */
export function isRefused(error: unknown): boolean {
  return (error as { code?: string }).code === 'ECONNREFUSED';
}
