import fastifyWebsocket from '@fastify/websocket';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify';
import { CepError, InvariantError } from '../errors/error.ts';
import { limits } from '../limits.ts';
import type { TlsPair } from '../security/tls-files.ts';
import { TokenBuckets } from '../security/token-buckets.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';
import { acceptBodies } from './bodies.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { registerDocs } from './docs.ts';
import { envelopeOf, errorHeaders, toCepError } from './error-envelope.ts';
import { Origins } from './origins.ts';
import { registerRoute } from './register-route.ts';
import { guardRequests } from './request-guard.ts';
import { requestIdOf, selectProtocol } from './request-identity.ts';
import { RequestLog } from './request-log.ts';
import type { Route, RouteAccess } from './route.ts';

/** What the conventions of HTTP ask of whoever owns the resources. */
export interface Callers<Caller> {
  /** False: everybody is let in, and `authenticate` takes any key. */
  readonly isAuthenticationOn: boolean;
  /** @throws CepError `missing_api_key`, `invalid_api_key` */
  authenticate(key: string | undefined): Caller;
  isAdmin(caller: Caller): boolean;
  /** Names the caller in limits and logs; never a secret. */
  nameOf(caller: Caller): string;
  /** Runs the action once per key of the caller; a repeat gets the first answer. @throws CepError `idempotency_conflict` */
  once<T>(request: { readonly caller: Caller; readonly key: string; readonly digest: string }, action: () => Promise<T>): Promise<T>;
}

export interface HttpAppOptions<Caller> {
  readonly routes: readonly Route<Caller>[];
  readonly callers: Callers<Caller>;
  readonly telemetry: Telemetry;
  /** Name and version, for the documentation. */
  readonly about: { readonly title: string; readonly version: string };
  /** Requests per second of a client; 0 = no limit. */
  readonly rateLimit: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Origins of other pages that may use the service. */
  readonly corsOrigins: readonly string[];
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[];
  readonly tls?: TlsPair | undefined;
  /** Why requests are refused at the moment, but for probes. */
  readonly refusal: () => CepError | undefined;
  /** Serve `/openapi.json` and `/docs`. */
  readonly hasDocs: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route; a route without it cannot be registered. */
    access?: RouteAccess;
  }
}

/**
 * An HTTP server that keeps the conventions: keys, errors, ids, limits, paging of what its routes declare. Nothing is served
 * that no descriptor declares. It does not listen yet.
 */
export async function createHttpApp<Caller>(options: HttpAppOptions<Caller>): Promise<FastifyInstance> {
  const app = makeServer(options);
  app.decorateRequest('caller', undefined);
  app.setSerializerCompiler(() => JSON.stringify);
  requireDeclaredAccess(app);
  acceptBodies(app);
  answerErrors(app, options);
  // Before the guard, because it is this plugin that ends the connection of an upgrade which the guard refuses.
  await app.register(fastifyWebsocket, {
    options: { maxPayload: limits.webSocketMessageBytesMax, perMessageDeflate: false, handleProtocols: selectProtocol },
  });
  guardRequests(app, {
    ...options,
    origins: new Origins(options.corsOrigins),
    buckets: bucketsOf(options),
    log: new RequestLog(options.telemetry, (caller) => options.callers.nameOf(caller as Caller)),
  });
  if (options.hasDocs) await registerDocs(app, options);
  for (const route of options.routes) registerRoute(app, route, options);
  return app;
}

/** Default deny: a server with a route that declares nothing does not start. */
function requireDeclaredAccess(app: FastifyInstance): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    routes.push(route);
  });
  app.addHook('onReady', (done) => {
    const open = routes.find(({ config }) => config?.access === undefined);
    done(open && new InvariantError(`the route ${open.method} ${open.url} does not declare who may call it`));
  });
}

function makeServer<Caller>({ tls, trustedProxies }: HttpAppOptions<Caller>): FastifyInstance {
  const server = {
    maxHeaderSize: limits.requestHeaderBytesMax,
    headersTimeout: limits.requestHeadersMsMax,
    connectionsCheckingInterval: 1_000,
  };
  const base = {
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, verbose: true } as const },
    bodyLimit: limits.requestBodyBytesMax,
    requestTimeout: limits.requestMsMax,
    keepAliveTimeout: limits.keepAliveMsMax,
    trustProxy: trustedProxies?.length ? [...trustedProxies] : false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: requestIdOf,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => void sendError(reply, request, toCepError(error)),
    routerOptions: { ignoreTrailingSlash: true },
  } as const;
  if (tls === undefined) return fastify({ ...base, http: server });
  return fastify({ ...base, https: { ...server, ...tls, minVersion: 'TLSv1.2' } }) as unknown as FastifyInstance;
}

function bucketsOf<Caller>({ rateLimit, now }: HttpAppOptions<Caller>): TokenBuckets | undefined {
  if (rateLimit === 0) return undefined;
  return new TokenBuckets({ ratePerSecond: rateLimit, burst: Math.max(1, 2 * rateLimit), clientsMax: limits.rateLimitClientsMax, now });
}

function answerErrors<Caller>(app: FastifyInstance, { routes, telemetry }: HttpAppOptions<Caller>): void {
  app.setErrorHandler((error, request, reply) => {
    const known = toCepError(error, request.body);
    if (known.status >= 500 && !(error instanceof CepError)) reportDefect(telemetry, request, error);
    return sendError(reply, request, known);
  });
  const paths = routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }));
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    const methods = paths.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.length === 0)
      return sendError(reply, request, new CepError('not_found', `no path ${path}`, { hint: 'see /docs for those there are' }));
    const allowed = [...new Set(methods)].join(', ');
    reply.header('allow', allowed);
    return sendError(reply, request, new CepError('method_not_allowed', `${path} takes ${allowed}, found ${request.method}`));
  });
}

function reportDefect(telemetry: Telemetry, request: FastifyRequest, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  telemetry.with({ request_id: request.id }).report('RequestFailed', {
    method: request.method,
    path: request.url.split('?')[0] ?? '',
    error: message,
    ...(stack === undefined ? {} : { stack }),
  });
}

function sendError(reply: FastifyReply, request: FastifyRequest, error: CepError): FastifyReply {
  const id = request.id;
  return reply
    .code(error.status)
    .headers({ ...errorHeaders(error), 'x-request-id': id })
    .send(envelopeOf(error, id));
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`);
}
