import { errors } from 'undici';
import { CepError } from '../../shared/errors/error.ts';
import { durationText } from '../../shared/events/time-text.ts';
import { asked, type ClientSettings } from './client-settings.ts';

type Endpoint = Pick<ClientSettings, 'url' | 'timeoutMs' | 'urlSetting'>;

/** Why no answer came. */
export interface TransportFailure {
  readonly error: CepError;
  /** The request may have reached the server, so that what it asks for may have been done. */
  readonly mayHaveArrived: boolean;
}

interface Explanation {
  readonly message: (endpoint: Endpoint) => string;
  readonly hint?: (endpoint: Endpoint) => string;
  readonly mayHaveArrived?: true;
}

/** What went wrong between a client and its server, as an error that says what to do. */
export function transportFailure(cause: unknown, endpoint: Endpoint): TransportFailure {
  const { message, hint, mayHaveArrived = false } = explanationOf(cause);
  const options = hint === undefined ? { cause } : { cause, hint: hint(endpoint) };
  return { error: new CepError('runtime_error', message(endpoint), options), mayHaveArrived };
}

function explanationOf(cause: unknown): Explanation {
  const code = codeOf(cause);
  const known = explanations[code];
  if (known) return known;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return untrusted(code);
  if (cause instanceof errors.HTTPParserError) return foreign;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { message: ({ url }) => `the connection to ${url} failed: ${reason}`, mayHaveArrived: true };
}

function codeOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return '';
  const { code, errors: several, cause: deeper } = cause as { code?: unknown; errors?: readonly unknown[]; cause?: unknown };
  if (typeof code === 'string') return code;
  return codeOf(several?.[0] ?? deeper);
}

const startOne = ({ urlSetting = 'client.server' }: Endpoint): string => {
  const { what, option, variable } = asked[urlSetting];
  return `start one with 'cep ${what}', or name another with ${option} or ${variable}`;
};
const checkName = ({ urlSetting = 'client.server' }: Endpoint): string =>
  `check ${asked[urlSetting].option}, ${asked[urlSetting].variable} and the configuration file`;
const secureUrl = ({ url }: Endpoint): string =>
  url.startsWith('http:') ? `if the server has TLS, its URL begins with https: ${url.replace('http:', 'https:')}` : 'try again';

const unreachable = (reason: string): Explanation => ({
  message: ({ url, urlSetting = 'client.server' }) => `no ${asked[urlSetting].what} answers at ${url}: ${reason}`,
  hint: startOne,
});

const lost: Explanation = {
  message: ({ url }) => `the connection to ${url} ended before the answer came`,
  hint: secureUrl,
  mayHaveArrived: true,
};

const slow: Explanation = {
  message: ({ url, timeoutMs }) => `${url} did not answer within ${durationText(timeoutMs)}`,
  hint: () => '--timeout lets it take longer',
  mayHaveArrived: true,
};

const foreign: Explanation = { message: ({ url }) => `what answers at ${url} does not speak HTTP`, hint: secureUrl };

const noTls: Explanation = {
  message: ({ url }) => `what answers at ${url} does not speak TLS`,
  hint: ({ url }) => `if the server has no TLS, its URL begins with http: ${url.replace('https:', 'http:')}`,
};

const unknownHost: Explanation = { message: ({ url }) => `the host of ${url} is not known`, hint: checkName };

const untrusted = (code: string): Explanation => ({
  message: ({ url }) => `the certificate of ${url} is signed by nobody that this machine trusts (${code})`,
  hint: () => "name the PEM file of the certificate's authority with --tls-ca",
});

const explanations: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: unreachable('the connection was refused'),
  EHOSTUNREACH: unreachable('there is no way to the host'),
  ENETUNREACH: unreachable('there is no way to the network'),
  ETIMEDOUT: unreachable('the connection took too long'),
  UND_ERR_CONNECT_TIMEOUT: unreachable('the connection took too long'),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ECONNRESET: lost,
  EPIPE: lost,
  UND_ERR_SOCKET: lost,
  UND_ERR_HEADERS_TIMEOUT: slow,
  UND_ERR_BODY_TIMEOUT: slow,
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  CERT_HAS_EXPIRED: { message: ({ url }) => `the certificate of ${url} has expired`, hint: () => 'the server needs a new one' },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    message: ({ url }) => `the certificate of ${url} is made out to another name`,
    hint: () => 'call the server by the name in its certificate',
  },
};
