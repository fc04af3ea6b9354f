import type { FastifyError, FastifyRequest } from 'fastify';
import { errorCodes } from '../errors/codes.ts';
import { CepError } from '../errors/error.ts';
import { schemaProblem } from './schema-problem.ts';

/** The body of every answer that is an error. */
export interface ErrorEnvelope {
  readonly error: string;
  readonly code: string;
  readonly hint?: string;
  readonly details?: unknown;
  readonly request_id: string;
  readonly retry_after_seconds?: number;
}

/** Anything thrown while a request is answered as an error with a code. What is no user's mistake says nothing of its cause. */
export function toCepError(error: unknown, request?: FastifyRequest): CepError {
  if (error instanceof CepError) return error;
  const { code = '', statusCode = 500, validation, message } = error as Partial<FastifyError>;
  if (validation?.[0]) return schemaProblem(validation[0], request?.body);
  const known = frameworkErrors[code];
  if (known) return known(request);
  if (statusCode < 500) return new CepError('bad_request', message ?? 'the request cannot be read', { cause: error });
  return new CepError('internal_error', 'the request failed because of a defect of the server', {
    hint: 'the log of the server has the cause under the request_id',
    cause: error,
  });
}

/** Errors of the framework that have a code of ours. */
const frameworkErrors: Readonly<Record<string, (request?: FastifyRequest) => CepError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (request) => {
    const [bytesMax, bytes] = [request?.routeOptions.bodyLimit, request?.headers['content-length']];
    const found = bytes === undefined ? 'a longer body' : `a body of ${bytes} bytes`;
    return new CepError('payload_too_large', `found ${found}, expected at most ${bytesMax} bytes`);
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (request) =>
    new CepError(
      'unsupported_media_type',
      `found the content type '${request?.headers['content-type'] ?? ''}', expected application/json`,
      {
        hint: "send JSON with the header 'Content-Type: application/json'",
      },
    ),
  FST_ERR_BAD_URL: () => new CepError('bad_request', 'the path is no valid URL: a % is not followed by two hex digits of UTF-8'),
};

export function envelopeOf(error: CepError, requestId: string): ErrorEnvelope {
  const { message, code, hint, details, retryAfterSeconds } = error;
  return {
    error: message,
    code,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
    request_id: requestId,
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: roundedUp(retryAfterSeconds) }),
  };
}

/** Headers that go with an error. */
export function errorHeaders({ code, retryAfterSeconds }: CepError): Readonly<Record<string, string>> {
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(roundedUp(retryAfterSeconds)) };
  return errorCodes[code].status === 401 ? { ...retry, 'www-authenticate': 'Bearer' } : retry;
}

/** Whole seconds, as the header takes them; never 0, which would say "at once". */
function roundedUp(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}
