import { CepError } from '../../shared/errors/error.ts';
import { type AddressAndLogin, apartFromLogin } from '../../shared/outbound/url-login.ts';
import { UnfitTarget, type WebAnswer, WebDoor } from '../../shared/outbound/web-door.ts';
import { ForbiddenAddress } from '../../shared/security/network-policy.ts';
import { type ConnectorEnvironment, type ConnectorType, DeliveryFailure, type Sink } from './connector.ts';
import { together } from './delivery/together.ts';
import { webhookSource } from './http/webhook-source.ts';
import { openHttpLookup } from './http-lookup.ts';
import { atServer, withTopic } from './http-target.ts';
import { durationParameter, headersParameter, numberParameter, textParameter } from './parameters.ts';
import { httpSteps } from './testing/http-steps.ts';

const TIMEOUT_MS_DEFAULT = 10_000;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface HttpSinkOptions {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Requests at a time. */
  readonly concurrency: number;
  /** For one request, from the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  readonly maySend: ConnectorEnvironment['mayDeliver'];
  readonly door: ConnectorEnvironment['door'];
  /** Where a message with this topic goes; null = it has none. */
  readonly targetOf: (address: URL, topic: string | null) => URL;
}

/** Requests to web addresses: one per message, with the message's id as `Idempotency-Key`. Only 2xx is taken for a success. */
export const httpConnector: ConnectorType = {
  name: 'http',
  openSink: ({ name, parameters }, { door, mayDeliver }) => {
    const ownTopic = textParameter(parameters, 'topic') ?? null;
    return openHttpSink(name, {
      url: textParameter(parameters, 'url') ?? '',
      method: textParameter(parameters, 'method') ?? 'POST',
      headers: headersParameter(parameters),
      concurrency: numberParameter(parameters, 'concurrency', 1),
      timeoutMs: durationParameter(parameters, 'timeout', TIMEOUT_MS_DEFAULT),
      door,
      maySend: mayDeliver,
      targetOf: (address, topic) => {
        const put = topic ?? ownTopic;
        return put === null ? address : withTopic(address, put);
      },
    });
  },
  openLookup: openHttpLookup,
  openSource: webhookSource,
  async *test({ name, topic, parameters, role }, { door }) {
    if (role === 'source') {
      yield { name: 'name', untested: 'it connects to nothing: others send to the server' };
      return;
    }
    const headers = headersParameter(parameters);
    const { address, login } = addressOf(name, textParameter(parameters, 'url') ?? '', headers);
    yield* httpSteps({
      door,
      target: topic === null ? address : withTopic(address, topic),
      headers: { ...login, ...headers },
      method: textParameter(parameters, 'method') ?? 'POST',
      timeoutMs: durationParameter(parameters, 'timeout', TIMEOUT_MS_DEFAULT),
    });
  },
};

/** The sink of `.alert(url: ..)` for one server; the topic of a message is path and query there. @throws CepError `connector_error` when it is no address, or one that may not be reached */
export function openWebhook(url: string, { door, mayDeliver }: ConnectorEnvironment): Sink {
  const targetOf = (address: URL, topic: string | null): URL => (topic === null ? address : atServer(address, topic));
  const usual = { method: 'POST', headers: {}, concurrency: 1, timeoutMs: TIMEOUT_MS_DEFAULT };
  return openHttpSink('alert', { ...usual, url, door, maySend: mayDeliver, targetOf });
}

function openHttpSink(name: string, { url, method, headers, concurrency, timeoutMs, door, maySend, targetOf }: HttpSinkOptions): Sink {
  const { address, login } = addressOf(name, url, headers);
  const web = new WebDoor(door, { connectMs: timeoutMs, silenceMs: 0, maySend });
  requireReach(name, address, web);
  const verb = methods.find((one) => one === method.toUpperCase());
  if (verb === undefined)
    throw new CepError('connector_error', `connector '${name}': found the method '${method}', expected one of ${methods.join(', ')}`);
  const send: Sink['send'] = async ({ id, topic, payload, traceparent }, signal) => {
    const added = { 'idempotency-key': id, ...(traceparent === undefined ? {} : { traceparent }) };
    const target = targetOf(address, topic);
    const answer = await answerOf(() =>
      web.request(target, {
        method: verb,
        headers: { 'content-type': 'application/json', ...login, ...headers, ...added },
        body: verb === 'GET' ? null : payload,
        deadlineMs: timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      }),
    );
    web.leave(answer);
    requireTaken(answer);
  };
  return { send, close: () => web.close(), ...(concurrency === 1 ? {} : { batching: together(concurrency, send) }) };
}

/** A login in the url goes as Basic authentication. */
function addressOf(name: string, text: string, headers: HttpSinkOptions['headers']): AddressAndLogin {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CepError('connector_error', `connector '${name}': its url is no http or https address`, {
      hint: 'write it as "https://host/path"',
    });
  }
  const found = apartFromLogin(url);
  if (found.login.authorization !== undefined && Object.keys(headers).some((header) => header.toLowerCase() === 'authorization')) {
    throw new CepError('connector_error', `connector '${name}': its url holds a login and its headers another`, { hint: 'leave one out' });
  }
  return found;
}

function requireReach(name: string, address: URL, web: WebDoor): void {
  try {
    web.requireTarget(address);
  } catch (cause) {
    if (!(cause instanceof ForbiddenAddress)) throw cause;
    throw new CepError('connector_error', `connector '${name}': ${cause.message}`, { hint: reachHint, cause });
  }
}

const reachHint = 'whoever runs the server can allow a network with --tenant-networks';

function requireTaken({ statusCode, headers }: WebAnswer): void {
  if (statusCode >= 200 && statusCode < 300) return;
  // Redirects are not followed, so they are a refusal like any other that repeats itself.
  const isPermanent = statusCode >= 300 && statusCode < 500 && ![408, 425, 429].includes(statusCode);
  throw new DeliveryFailure(`http_${statusCode}`, `the answer was ${statusCode}`, {
    isPermanent,
    retryAfterMs: retryAfterMs(headers),
  });
}

async function answerOf(request: () => Promise<WebAnswer>): Promise<WebAnswer> {
  try {
    return await request();
  } catch (cause) {
    if (cause instanceof ForbiddenAddress)
      throw new DeliveryFailure(cause.code, `${cause.message}: ${reachHint}`, { isPermanent: true, cause });
    if (cause instanceof UnfitTarget) throw new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
    const reason = cause instanceof Error ? cause.message : String(cause);
    const code = codeOf(cause);
    throw new DeliveryFailure(code, `no answer: ${reason || code}`, { cause });
  }
}

function codeOf(cause: unknown): string {
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout';
  if (typeof code === 'string') return code.toLowerCase();
  return name === 'HTTPParserError' ? 'not_http' : 'unreachable';
}

/** Seconds, or a date by the clock of whoever answers, which says its time too. */
export function retryAfterMs({ 'retry-after': after, date }: WebAnswer['headers']): number | undefined {
  if (typeof after !== 'string') return undefined;
  if (/^\d+$/.test(after)) return Number(after) * 1000;
  const ms = dateMs(after) - dateMs(date);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** `Date.parse` would find a date in nearly anything. */
function dateMs(text: unknown): number {
  return typeof text === 'string' && /^\w{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
}
