import { EventEmitter } from 'node:events';
import { METHODS } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify';
import { CepError, InvariantError } from '../errors/error.ts';
import { limits } from '../limits.ts';
import { TokenBuckets } from '../security/token-buckets.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';
import { AnswerPace } from './answer-pace.ts';
import { acceptBodies } from './bodies.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { Connections } from './connections.ts';
import { registerConsole } from './console.ts';
import { registerDocs } from './docs.ts';
import { envelopeOf, errorHeaders, toCepError } from './error-envelope.ts';
import { Hosts } from './hosts.ts';
import type { HttpAppOptions } from './http-app-options.ts';
import { Origins } from './origins.ts';
import { Paths, pathOf } from './paths.ts';
import { registerRoute } from './register-route.ts';
import { guardRequests } from './request-guard.ts';
import { requestIdOf } from './request-identity.ts';
import { RequestLog } from './request-log.ts';
import { RequestShares } from './request-shares.ts';
import type { RouteAccess } from './route.ts';
import { createWebServer } from './web-server.ts';
import { takeWebSockets } from './web-sockets.ts';

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
  const { routes, hasDocs } = options;
  const webSockets = new EventEmitter();
  const connections = new Connections();
  const app = makeServer(options, { webSockets, connections });
  app.addHook('preClose', async () => connections.end());
  app.decorateRequest('caller', undefined);
  app.decorateRequest('hungUp', undefined);
  app.setSerializerCompiler(() => JSON.stringify);
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const paths = new Paths(hasDocs ? 'see /docs for those there are' : `this port serves ${routes.map(({ path }) => path).join(', ')}`);
  requireDeclaredAccess(app, paths);
  acceptBodies(app);
  answerErrors(app, options, paths);
  // Before the guard, because it is this plugin that ends the connection of an upgrade which the guard refuses.
  await takeWebSockets(app, webSockets);
  const origins = new Origins(options.corsOrigins);
  await origins.answerBrowsers(app);
  const shares = options.shares ?? new RequestShares(options);
  guardRequests(app, {
    ...options,
    hosts: new Hosts(options.allowedHosts ?? []),
    origins,
    paths,
    buckets: bucketsOf(options),
    shares,
    log: new RequestLog(options.telemetry, (caller) => options.callers.nameOf(caller as Caller)),
  });
  if (hasDocs) await registerDocs(app, options);
  if (options.hasConsole) await registerConsole(app);
  const pace = new AnswerPace({
    bytesPerSecond: limits.largeAnswersBytesPerSecondMax,
    burstBytes: limits.largeAnswersBytesPerSecondMax,
    underWayMax: limits.largeAnswersUnderWayMax,
    waitingMax: limits.largeAnswersWaitingMax,
    waitMsMax: limits.largeAnswersWaitMsMax,
    now: options.now,
  });
  options.ending?.addEventListener('abort', () => {
    shares.end();
    pace.end();
  });
  for (const route of routes) registerRoute(app, route, { ...options, pace });
  return app;
}

/** Default deny: a server with a route that declares nothing does not start. */
function requireDeclaredAccess(app: FastifyInstance, paths: Paths): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    // The route by which a plugin takes OPTIONS everywhere; the guard answers before it is reached.
    if (route.url === '*') route.config = { access: 'open', operation: 'options' };
    else paths.add(route.url, [route.method].flat());
    routes.push(route);
  });
  app.addHook('onReady', (done) => {
    const open = routes.find(({ config }) => config?.access === undefined);
    done(open && new InvariantError(`the route ${open.method} ${open.url} does not declare who may call it`));
  });
}

const PLUGIN_START_MS_MAX = 120_000;

interface ServerParts {
  readonly webSockets: EventEmitter;
  readonly connections: Connections;
}

function makeServer<Caller>({ tls, trustedProxies, routes }: HttpAppOptions<Caller>, parts: ServerParts): FastifyInstance {
  const webSocketPaths = routes.filter(({ webSocket }) => webSocket !== undefined).map(({ path }) => path);
  const isWebSocketPath = (path: string): boolean => webSocketPaths.includes(path.replace(/(?<=.)\/$/, ''));
  return fastify({
    // To check the schemas themselves takes longer than to compile all of them, and typebox has made them.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, verbose: true, validateSchema: false } },
    bodyLimit: limits.requestBodyBytesMax,
    // On a machine that is busy a plugin may take long; the process must not end because of that.
    pluginTimeout: PLUGIN_START_MS_MAX,
    serverFactory: (listener) => createWebServer(listener, { ...parts, tls, isWebSocketPath }),
    trustProxy: trustedProxies?.length ? [...trustedProxies] : false,
    return503OnClosing: false,
    genReqId: requestIdOf,
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, parts.connections),
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => void sendError(reply, request, toCepError(error)),
    // No parameter is too long for a route: before its key is asked for, nobody is told anything.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: limits.requestHeaderBytesMax },
  });
}

function bucketsOf<Caller>({ rateLimit, now }: HttpAppOptions<Caller>): TokenBuckets | undefined {
  if (rateLimit === 0) return undefined;
  return new TokenBuckets({ ratePerSecond: rateLimit, burst: Math.max(1, 2 * rateLimit), clientsMax: limits.rateLimitClientsMax, now });
}

function answerErrors<Caller>(app: FastifyInstance, { telemetry }: HttpAppOptions<Caller>, paths: Paths): void {
  app.setErrorHandler((error, request, reply) => {
    const known = toCepError(error, request);
    if (known.status >= 500 && !(error instanceof CepError)) reportDefect(telemetry, request, error);
    return sendError(reply, request, known);
  });
  app.setNotFoundHandler((request, reply) => paths.refuse(request, reply));
}

function reportDefect(telemetry: Telemetry, request: FastifyRequest, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  telemetry.with({ request_id: request.id }).report('RequestFailed', {
    method: request.method,
    path: pathOf(request),
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
