import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { type ErrorCode, errorCodes } from '../../shared/errors/codes.ts';
import { codesOf } from '../../shared/http/openapi.ts';
import type { Route } from '../../shared/http/route.ts';
import { errorSchema } from '../../shared/protocol/error-schema.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about.
  readonly body: any;
}

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  /** Data to be sent as JSON; text and bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request and reads the whole answer. */
export async function ask({ method, url, key, body, headers = {} }: Asked): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: (isRaw ? body : JSON.stringify(body)) as string }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

type AnyRoute = Pick<Route<never>, 'method' | 'path' | 'success'>;

/** An answer has the shape that its route declares, or is one of the errors that it declares. */
export function holdToRoutes(
  routes: readonly AnyRoute[],
  { method, path, answer }: { method: string; path: string; answer: Answer },
): void {
  const { status, body, headers } = answer;
  expect(headers.get('x-request-id')).toBeTruthy();
  const route = routes.find((declared) => declared.method === method && patternOf(declared).test(path));
  const success = route?.success[status];
  if (success !== undefined && typeof success !== 'string') {
    expect([...Value.Errors(success, body)].map(({ instancePath, message }) => `${instancePath} ${message}`)).toEqual([]);
  } else if (status >= 400) {
    const { reason: _reason, status: _status, engine_loaded: _loaded, ...error } = body;
    expect([error, Value.Check(errorSchema, error)]).toEqual([error, true]);
    expect(errorCodes[error.code as ErrorCode].status).toBe(status);
    expect(error.request_id).toBe(headers.get('x-request-id'));
    if (route) expect(codesOf(route as Route<never>)).toContain(error.code);
  }
}

function patternOf({ path }: AnyRoute): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
}
