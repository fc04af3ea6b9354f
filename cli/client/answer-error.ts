import { type ErrorCode, errorCodes } from '../../shared/errors/codes.ts';
import { CepError } from '../../shared/errors/error.ts';
import { asked, type ClientSettings } from './client-settings.ts';

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

/** What was asked, for messages. */
type Endpoint = Pick<ClientSettings, 'url' | 'urlSetting'>;

/** What is known of an answer that is a success: it is a list, or has these members. */
export type Expected = 'list' | readonly string[];

/** The value of an answer that is a success. @throws CepError when it is none of ours */
export function successOf(answer: RawAnswer, expected: Expected, endpoint: Endpoint): unknown {
  const value = jsonOf(answer.body);
  const isOurs = expected === 'list' ? Array.isArray(value) : expected.every((name) => hasMember(value, name));
  if (isOurs && value !== undefined) return value;
  const isOfCoordinator = endpoint.urlSetting !== 'client.coordinator' && hasMember(value, 'role') && value.role === 'coordinator';
  if (isOfCoordinator) throw new CepError('runtime_error', `${endpoint.url} is a coordinator`, { hint: 'cep cluster status' });
  throw foreignAnswer(answer, endpoint);
}

function hasMember<Name extends string>(value: unknown, name: Name): value is { readonly [N in Name]: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

/** The error that an answer says. @param path What was asked, in which the same code may want another thing done. */
export function refusalOf(answer: RawAnswer, endpoint: Endpoint, path: string): Refusal {
  const envelope = envelopeOf(answer.body);
  if (envelope === undefined) return { error: foreignAnswer(answer, endpoint), isUndone: false };
  const { error: message, code, hint, details, request_id: requestId } = envelope;
  const isKnown = Object.hasOwn(errorCodes, code);
  const ofCluster = endpoint.urlSetting === 'client.coordinator' ? clusterHints[code] : undefined;
  const ofTaken = code === 'name_taken' ? takenHints[path.split('?')[0] as string] : undefined;
  const ofPath = code === 'not_found' ? pathHint(endpoint) : undefined;
  const ownHint =
    ofTaken ??
    ofPath ??
    ofCluster ??
    hints[code] ??
    (code === 'internal_error' ? `the log of the server has the cause under request ${requestId}` : hint);
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
  worker_not_found: "'cep workers' lists those there are",
  group_not_found: "'cep groups' lists those there are",
  checkpoint_corrupt: "give a file that 'cep checkpoint' wrote",
  not_durable: 'leave --durable out, or start the server with --state-dir',
  state_would_reset: 'leave --keep-state out to lose that state',
  payload_too_large: 'send it in smaller parts',
};

/** Where a name is taken, by what was to be made. */
const takenHints: Readonly<Record<string, string>> = {
  '/api/v1/pipelines': "change the pipeline with 'cep reload', or choose another name with --name",
  '/api/v1/cluster/pipeline-groups': "change that group with 'cep groups deploy FILE --update', or choose another name in FILE",
};

/** Where a coordinator is asked. */
const clusterHints: Readonly<Record<string, string>> = {
  pipeline_not_found: "'cep groups show' with the name of the group lists those there are",
};

/** Our commands ask for paths that there are: it is somebody else who was asked. */
function pathHint({ urlSetting = 'client.server' }: Endpoint): string {
  const { option, variable } = asked[urlSetting];
  const others = urlSetting === 'client.coordinator' ? 'servers, workers' : 'coordinators';
  return `check ${option} and ${variable}: ${others} and earlier versions have no such path`;
}

interface Envelope {
  readonly error: string;
  readonly code: string;
  readonly hint?: string;
  readonly details?: unknown;
  readonly request_id?: string;
  readonly retry_after_seconds?: number;
}

function envelopeOf(body: string): Envelope | undefined {
  const value = jsonOf(body);
  const isOurs = hasMember(value, 'error') && hasMember(value, 'code');
  return isOurs && typeof value.error === 'string' && typeof value.code === 'string' ? (value as unknown as Envelope) : undefined;
}

/** Undefined when it is no JSON. */
function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function foreignAnswer({ status, headers }: RawAnswer, { url, urlSetting = 'client.server' }: Endpoint): CepError {
  const { what, option, variable } = asked[urlSetting];
  const location = headers['location'];
  if (status >= 300 && status < 400 && typeof location === 'string') {
    return new CepError('runtime_error', `${url} answers with status ${status} and sends to ${location}`, {
      hint: `name the ${what} that it sends to with ${option}`,
    });
  }
  return new CepError('runtime_error', `what answers at ${url} is no cep ${what}: status ${status} without an answer of ours`, {
    hint: `check ${option}, ${variable}, and proxies on the way`,
  });
}

function headerSeconds(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
}
