import { type ErrorCode, errorCodes } from '../../shared/errors/codes.ts';
import { CepError } from '../../shared/errors/error.ts';

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** An answer that is no success. */
export interface Refusal {
  readonly error: CepError;
  /** The server says that it has done nothing of what was asked, so asking again is safe whatever it was. */
  readonly isUndone: boolean;
}

/** The error that an answer says; `url` of the server, for messages. */
export function refusalOf(answer: RawAnswer, url: string): Refusal {
  const envelope = envelopeOf(answer.body);
  if (envelope === undefined) return { error: foreignAnswer(answer, url), isUndone: false };
  const { error: message, code, hint, details, request_id: requestId } = envelope;
  const isKnown = Object.hasOwn(errorCodes, code);
  const ownHint = hints[code] ?? (code === 'internal_error' ? `the log of the server has the cause under request ${requestId}` : hint);
  const retryAfterSeconds = envelope.retry_after_seconds ?? headerSeconds(answer.headers['retry-after']);
  const error = new CepError(isKnown ? (code as ErrorCode) : 'runtime_error', isKnown ? message : `${message} (${code})`, {
    ...(ownHint === undefined ? {} : { hint: ownHint }),
    ...(details === undefined ? {} : { details }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
  return { error, isUndone: (answer.status === 429 || answer.status === 503) && retryAfterSeconds !== undefined };
}

/** What to do with the means of the command line. */
const hints: Readonly<Record<string, string>> = {
  missing_api_key: 'give the key with CEP_API_KEY, --api-key-file or --api-key',
  invalid_api_key: 'check CEP_API_KEY, --api-key-file or --api-key, and that whom it asks (--server, --coordinator) is the one of this key',
  pipeline_not_found: "'cep pipelines' lists those there are",
  pipeline_not_running: "'cep pipeline' with its name shows why, 'cep start' starts it",
  member_not_found: "'cep raft status' lists those there are",
  tenant_not_found: "'cep tenants' lists those there are",
  checkpoint_corrupt: "give a file that 'cep checkpoint' wrote",
  name_taken: "change the pipeline with 'cep reload', or choose another name with --name",
  not_durable: 'leave --durable out, or start the server with --state-dir',
  state_would_reset: 'leave --keep-state out to lose that state',
  payload_too_large: 'send it in smaller parts',
};

interface Envelope {
  readonly error: string;
  readonly code: string;
  readonly hint?: string;
  readonly details?: unknown;
  readonly request_id?: string;
  readonly retry_after_seconds?: number;
}

function envelopeOf(body: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isOurs = typeof value === 'object' && value !== null && 'error' in value && 'code' in value;
    return isOurs && typeof value.error === 'string' && typeof value.code === 'string' ? (value as Envelope) : undefined;
  } catch {
    return undefined; // Not JSON: not from a server of ours.
  }
}

function foreignAnswer({ status, headers }: RawAnswer, url: string): CepError {
  const location = headers['location'];
  if (status >= 300 && status < 400 && typeof location === 'string') {
    return new CepError('runtime_error', `${url} answers with status ${status} and sends to ${location}`, {
      hint: 'name the server that it sends to with --server',
    });
  }
  return new CepError('runtime_error', `what answers at ${url} is no cep server: status ${status} without an error of ours`, {
    hint: 'check --server, CEP_SERVER, and proxies on the way',
  });
}

function headerSeconds(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
}
