import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CepError } from '../errors/error.ts';
import type { TokenBuckets } from '../security/token-buckets.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';
import type { TraceContext } from '../telemetry/tracing.ts';
import type { Callers } from './callers.ts';
import type { Hosts } from './hosts.ts';
import type { Origins } from './origins.ts';
import type { Paths } from './paths.ts';
import { addressGroup, presentedKey, traceOf } from './request-identity.ts';
import type { RequestLog } from './request-log.ts';
import { type RequestShares, SMALL_BODY_BYTES } from './request-shares.ts';
import { configOf } from './route-config.ts';

export interface GuardOptions<Caller> {
  readonly callers: Callers<Caller>;
  readonly hosts: Hosts;
  readonly origins: Origins;
  readonly paths: Paths;
  /** Undefined = no limit. */
  readonly buckets: TokenBuckets | undefined;
  readonly shares: RequestShares;
  readonly refusal: () => CepError | undefined;
  readonly telemetry: Telemetry;
  readonly log: RequestLog;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    isProbe?: boolean;
    isOfCluster?: boolean;
    keyInQuery?: boolean;
    isWebSocket?: boolean;
    /** Its answer goes on until the client leaves. */
    isStream?: boolean;
    isAudited?: boolean;
    /** It makes no change, or takes `If-Match`. */
    mayBeConditional?: boolean;
    sharedBy?: string | undefined;
    shareOf?: ((params: Readonly<Record<string, string>>) => string | undefined) | undefined;
    /** What the route asks of the caller before the body is read; rejects with the refusal. */
    admit?: ((request: FastifyRequest, reply: FastifyReply) => void | Promise<void>) | undefined;
    /** The name of the route in metrics. */
    operation?: string;
  }
  interface FastifyRequest {
    /** Who has the key of the request; undefined on routes that need none. */
    caller: unknown;
    /** Made when it is first asked for. */
    telemetry: Telemetry | undefined;
    /** The part of a trace that the request is; undefined when it belongs to none and traces are off. */
    trace: TraceContext | undefined;
    startedAtMs: number;
  }
}

/** What stands before every route, in this order: id, host, rate limit, key, origin, readiness, role, condition, share, what the route asks. */
export function guardRequests<Caller>(app: FastifyInstance, options: GuardOptions<Caller>): void {
  app.decorateRequest('telemetry', undefined);
  app.decorateRequest('trace', undefined);
  app.decorateRequest('routeConfig', undefined);
  app.decorateRequest('startedAtMs', 0);
  app.addHook('onRequest', (request, reply, done) => {
    try {
      request.startedAtMs = performance.now();
      request.trace = traceOf(request.headers) ?? options.telemetry.tracer?.root();
      reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
      guard(request, options);
      if (request.method === 'OPTIONS') options.paths.answerOptions(request, reply);
      else if (request.is404) options.paths.refuse(request, reply);
      else admitInTurn(request, reply, options, done);
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook('onResponse', (request, reply, done) => {
    options.log.answered(request, reply);
    done();
  });
}

function admitInTurn<Caller>(
  request: FastifyRequest,
  reply: FastifyReply,
  options: GuardOptions<Caller>,
  done: (error?: Error) => void,
): void {
  const { callers, shares, refusal } = options;
  const { isWebSocket, isStream, isProbe } = configOf(request);
  const admitNow = (): void => admit(request, reply, options, done);
  // Probes are few, and what keeps servers together: nobody is to wait because they are there.
  const name = isWebSocket || isStream || isProbe ? undefined : shareOf(request, callers);
  if (name === undefined) {
    admitNow();
    return;
  }
  const turn = shares.enter(name, weightOf(request));
  reply.raw.once('close', () => shares.leave(name));
  if (turn === undefined) admitNow();
  else turn.then(() => orRefused(refusal(), done, admitNow), done);
}

/** Whose share of the thread a request is of; undefined when it is nobody's. */
function shareOf<Caller>(request: FastifyRequest, callers: Callers<Caller>): string | undefined {
  const { sharedBy, shareOf: ownShareOf } = configOf(request);
  const params = request.params as Readonly<Record<string, string>>;
  if (request.caller === undefined) return ownShareOf?.(params);
  const caller = callers.nameOf(request.caller as Caller);
  return sharedBy === undefined ? caller : `${caller} ${params[sharedBy]}`;
}

/** What a request costs this thread, as a multiple of one with a small body. */
function weightOf({ headers }: FastifyRequest): number {
  return 1 + Number(headers['content-length'] ?? 0) / SMALL_BODY_BYTES;
}

/** Before the body is read, so that what is refused costs no reading, and its sender has to wait with sending. */
function admit<Caller>(
  request: FastifyRequest,
  reply: FastifyReply,
  { refusal }: GuardOptions<Caller>,
  done: (error?: Error) => void,
): void {
  const admitted = configOf(request).admit?.(request, reply);
  if (admitted === undefined) done();
  else admitted.then(() => orRefused(refusal(), done, done), done);
}

/** For a request that has waited: the server may have begun to end meanwhile. */
function orRefused(refused: CepError | undefined, done: (error?: Error) => void, goOn: () => void): void {
  if (refused) done(refused);
  else goOn();
}

function guard<Caller>(request: FastifyRequest, options: GuardOptions<Caller>): void {
  const { callers, hosts, origins, refusal } = options;
  const { access, isProbe, isWebSocket } = configOf(request);
  hosts.require(request, !callers.isAuthenticationOn);
  if (isProbe && access === 'open') return;
  const key = callerOf(request, callers);
  if (isLimited(request, callers, key)) limitRate(request, options, 'error' in key ? undefined : key.caller);
  if (access === 'key' || access === 'admin') {
    if ('error' in key) throw key.error;
    request.caller = key.caller;
  }
  refuseForeignPages(request, { origins, isStrict: isWebSocket === true || !callers.isAuthenticationOn });
  const refused = isProbe || access === 'open' || access === undefined ? undefined : refusal();
  if (refused) throw refused;
  if (access === 'admin' && !callers.isAdmin(request.caller as Caller)) {
    throw new CepError('forbidden', 'this path needs the key of the server itself');
  }
  if (request.headers['if-match'] !== undefined && configOf(request).mayBeConditional === false) {
    throw new CepError('validation_error', 'this path takes no If-Match, so nothing was changed', {
      hint: 'leave it out to make the change whatever there is now',
    });
  }
}

/** Who tries keys is limited everywhere, whoever has a good one neither on probes nor, with the cluster's, on what is the cluster's own. */
function isLimited<Caller>(request: FastifyRequest, callers: Callers<Caller>, key: KeyOf<Caller>): boolean {
  const { isProbe, isOfCluster } = configOf(request);
  return 'error' in key || !(isProbe || (isOfCluster && callers.isAdmin(key.caller)));
}

type KeyOf<Caller> = { readonly caller: Caller } | { readonly error: unknown };

/** Whose key a request carries, or why it has no good one. */
export function callerOf<Caller>(request: FastifyRequest, callers: Callers<Caller>): KeyOf<Caller> {
  const { keyInQuery, isWebSocket } = configOf(request);
  const key = presentedKey(request.headers, request.query, { inQuery: keyInQuery === true, inProtocol: isWebSocket === true });
  try {
    return { caller: callers.authenticate(key) };
  } catch (error) {
    return { error };
  }
}

function limitRate<Caller>(request: FastifyRequest, options: GuardOptions<Caller>, caller: Caller | undefined): void {
  const { buckets, callers, telemetry } = options;
  if (!buckets) return;
  const hasKey = caller !== undefined && callers.isAuthenticationOn;
  const client = hasKey ? `key ${callers.nameOf(caller)}` : `address ${addressGroup(request.ip)}`;
  const waitSeconds = buckets.take(client);
  if (waitSeconds === 0) return;
  telemetry.report('RequestRateLimited', { method: request.method, path: request.routeOptions.url ?? '', client });
  throw new CepError('rate_limited', 'too many requests of this client', {
    retryAfterSeconds: waitSeconds,
    hint: 'wait as long as Retry-After says; batches take many events in one request',
  });
}

/**
 * A page of another site may not act through the browser of somebody who can reach the server. Where a key is needed only
 * WebSockets are at risk, because for everything else the page would have to know the key and be let in by CORS.
 */
function refuseForeignPages(request: FastifyRequest, { origins, isStrict }: { origins: Origins; isStrict: boolean }): void {
  const isHarmless = ['GET', 'HEAD', 'OPTIONS'].includes(request.method) && configOf(request).isWebSocket !== true;
  if (!isStrict || isHarmless || origins.admits(request.headers)) return;
  throw new CepError('forbidden', `pages of ${request.headers.origin} may not use this server`, {
    hint: 'name the origin in --cors-origins to allow it',
  });
}
