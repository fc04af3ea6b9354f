import { Agent, type Dispatcher } from 'undici';
import { CepError } from '../../shared/errors/error.ts';
import { ForbiddenAddress, type NetworkPolicy } from '../../shared/security/network-policy.ts';
import { type ConnectorEnvironment, type ConnectorType, DeliveryFailure, type Sink } from './connector.ts';
import { durationParameter, textParameter, textsParameter } from './parameters.ts';

const TIMEOUT_MS_DEFAULT = 10_000;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface HttpSinkOptions {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly network: NetworkPolicy;
}

/** Requests to web addresses: one per message, with the message's id as `Idempotency-Key`. Only 2xx is taken for a success. */
export const httpConnector: ConnectorType = {
  name: 'http',
  openSink: ({ name, parameters }, { network }) =>
    openHttpSink(name, {
      url: textParameter(parameters, 'url') ?? '',
      method: textParameter(parameters, 'method') ?? 'POST',
      headers: textsParameter(parameters, 'headers'),
      timeoutMs: durationParameter(parameters, 'timeout', TIMEOUT_MS_DEFAULT),
      network,
    }),
};

/** The sink of `.alert(url: ..)` for one server; the topic of a message is path and query there. @throws CepError `connector_error` when it is no address, or one that may not be reached */
export function openWebhook(url: string, { network }: ConnectorEnvironment): Sink {
  const options = { url, method: 'POST', headers: {}, timeoutMs: TIMEOUT_MS_DEFAULT, network };
  return openHttpSink('alert', options, (address, topic) => (topic === null ? address : new URL(topic, address.origin)));
}

function openHttpSink(name: string, { url, method, headers, timeoutMs, network }: HttpSinkOptions, targetOf = withSuffix): Sink {
  const address = addressOf(name, url);
  requireReach(name, address, network);
  const verb = methods.find((one) => one === method.toUpperCase());
  if (verb === undefined)
    throw new CepError('connector_error', `connector '${name}': found the method '${method}', expected one of ${methods.join(', ')}`);
  const agent = new Agent({
    connections: 2,
    connect: { timeout: timeoutMs, lookup: network.lookup },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 10_000,
  });
  return {
    send: async ({ id, topic, payload, traceparent }) => {
      const target = targetOf(address, topic);
      const body = verb === 'GET' ? null : payload;
      const added = { 'idempotency-key': id, ...(traceparent === undefined ? {} : { traceparent }) };
      await send(agent, target, { method: verb, headers: { 'content-type': 'application/json', ...headers, ...added }, body });
    },
    close: () => agent.close(),
  };
}

function addressOf(name: string, text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address && (address.protocol === 'http:' || address.protocol === 'https:')) return address;
  throw new CepError('connector_error', `connector '${name}': its url is no http or https address`, {
    hint: 'write it as "https://host/path"',
  });
}

function requireReach(name: string, { hostname }: URL, network: NetworkPolicy): void {
  try {
    network.requireHost(hostname);
  } catch (cause) {
    if (!(cause instanceof ForbiddenAddress)) throw cause;
    throw new CepError('connector_error', `connector '${name}': ${cause.message}`, { hint: reachHint, cause });
  }
}

const reachHint = 'whoever runs the server can allow a network with --tenant-networks';

/** The topic goes behind the path. */
function withSuffix(address: URL, topic: string | null): URL {
  if (topic === null) return address;
  const target = new URL(address);
  target.pathname = `${address.pathname.replace(/\/$/, '')}/${topic.split('/').map(encodeURIComponent).join('/')}`;
  return target;
}

async function send(agent: Agent, target: URL, request: Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'>): Promise<void> {
  const { statusCode, headers } = await answerOf(agent, target, request);
  if (statusCode >= 200 && statusCode < 300) return;
  // Redirects are not followed, so they are a refusal like any other that repeats itself.
  const isPermanent = statusCode >= 300 && statusCode < 500 && ![408, 425, 429].includes(statusCode);
  throw new DeliveryFailure(`http_${statusCode}`, `the answer was ${statusCode}`, {
    isPermanent,
    retryAfterMs: retryAfterMs(headers['retry-after']),
  });
}

async function answerOf(
  agent: Agent,
  target: URL,
  { method, headers, body }: Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'>,
): Promise<Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>> {
  try {
    const answer = await agent.request({
      origin: target.origin,
      path: target.pathname + target.search,
      method,
      headers,
      body,
    } as Dispatcher.RequestOptions);
    await answer.body.dump();
    return answer;
  } catch (cause) {
    if (cause instanceof ForbiddenAddress)
      throw new DeliveryFailure(cause.code, `${cause.message}: ${reachHint}`, { isPermanent: true, cause });
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreachable';
    const reason = cause instanceof Error ? cause.message || code : String(cause);
    throw new DeliveryFailure(code.toLowerCase(), `no answer: ${reason}`, { cause });
  }
}

function retryAfterMs(header: string | string[] | undefined): number | undefined {
  const seconds = Number(typeof header === 'string' ? header : Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
