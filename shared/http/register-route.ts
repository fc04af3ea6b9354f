import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { WebSocket } from 'ws';
import { CepError } from '../errors/error.ts';
import { limits } from '../limits.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';
import { Answer } from './answer.ts';
import type { AnswerPace } from './answer-pace.ts';
import type { Callers } from './callers.ts';
import type { HttpAppOptions } from './http-app-options.ts';
import { queryReader, textParameter } from './query.ts';
import { callerOf } from './request-guard.ts';
import { telemetryOf } from './request-telemetry.ts';
import { type Call, type Route, readsNoQuery } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The query as its route reads it. */
    queryValues: Readonly<Record<string, unknown>>;
    /** Aborted when the client hangs up; made when it is first asked for. */
    hungUp: AbortSignal | undefined;
  }
}

export interface RegisterOptions<Caller> extends HttpAppOptions<Caller> {
  readonly pace: AnswerPace;
}

/** Puts a declared route into the server: its checks before, its answer after. */
export function registerRoute<Caller>(app: FastifyInstance, route: Route<Caller>, options: RegisterOptions<Caller>): void {
  const { method, path, access, body, bytes, isProbe, isOfCluster, keyInQuery, webSocket, operation } = route;
  const answer = answering(route, options);
  const readQuery = readsNoQuery(route)
    ? () => noQuery
    : queryReader(keyInQuery ? { ...route.query, api_key: textParameter('The API key.') } : route.query);
  const checkQuery = (request: FastifyRequest, done: (error?: Error) => void): void => {
    try {
      request.queryValues = readQuery(request.query as Record<string, unknown>);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
  const registered: RouteOptions = {
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    bodyLimit: bytes?.bytesMax ?? limits.requestBodyBytesMax,
    config: {
      access,
      bytes,
      operation,
      isProbe: isProbe === true,
      isOfCluster: isOfCluster === true,
      keyInQuery: keyInQuery === true,
      isWebSocket: webSocket !== undefined,
      isStream: route.textType === 'text/event-stream',
      isAudited: route.isAudited === true,
      mayBeConditional: method === 'GET' || route.isConditional === true,
      sharedBy: route.sharedBy,
      shareOf: route.shareOf,
      admit: admitting(route, options),
    },
    ...(body === undefined ? {} : { schema: { body } }),
    preValidation: (request, _reply, done) => {
      if (route.isBodyOptional) request.body ??= {};
      if (bytes && request.body === undefined) done(new CepError('validation_error', 'body: found nothing, expected JSON'));
      else checkQuery(request, done);
    },
    handler: webSocket ? refuseWithoutUpgrade : answer,
  };
  if (!webSocket) app.route(registered);
  else
    app.route({
      ...registered,
      wsHandler: (socket: WebSocket, request) => webSocket(socket, callOf(request, undefined, options)),
    } as RouteOptions);
}

const noQuery = Object.freeze({});

/** What is asked of a request before its body is read. */
function admitting<Caller>({ admit, isPaced }: Route<Caller>, options: RegisterOptions<Caller>) {
  const own = admit && ((request: FastifyRequest, reply: FastifyReply) => admit(callOf(request, reply, options)));
  if (!isPaced) return own;
  const { callers, pace } = options;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const caller = request.caller as Caller;
    if (!callers.isAdmin(caller)) {
      const answered = await pace.enter(callers.nameOf(caller), signalOf(request, reply));
      const tell = (): void => answered(Number(reply.getHeader('content-length') ?? 0));
      if (reply.raw.closed) tell();
      else reply.raw.once('close', tell);
    }
    await own?.(request, reply);
  };
}

function refuseWithoutUpgrade(_request: FastifyRequest, reply: FastifyReply): never {
  reply.header('upgrade', 'websocket');
  throw new CepError('upgrade_required', 'this path takes WebSocket connections only');
}

function answering<Caller>(route: Route<Caller>, options: HttpAppOptions<Caller>) {
  const firstStatus = Number(Object.keys(route.success)[0] ?? 200);
  const { handle, idempotency } = route;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const call = callOf(request, reply, options);
    const key = idempotency === 'answer' ? idempotencyKeyOf(request) : undefined;
    const act = async (): Promise<unknown> => handle?.(call);
    const given = key === undefined ? await handle?.(call) : await onceFor({ request, key, callers: options.callers }, act);
    if (reply.sent || given === undefined) return reply.hijack();
    const { status, body, headers } = given instanceof Answer ? given : new Answer(firstStatus, given);
    reply.code(status).headers(headers);
    // A reply that is returned is waited for, with listeners of its own, until all of it is written. What is to be sent is not.
    return body === undefined ? reply.send() : body;
  };
}

function onceFor<Caller>(
  { request, key, callers }: { readonly request: FastifyRequest; readonly key: string; readonly callers: Callers<Caller> },
  action: () => Promise<unknown>,
): Promise<unknown> {
  const digest = createHash('sha256').update(`${request.method} ${request.url}\n`);
  if (request.bodyBytes) digest.update(request.bodyBytes);
  return callers.once({ caller: request.caller as Caller, key, digest: digest.digest('hex') }, action);
}

/** @throws CepError `validation_error` for a key that is too long or holds what cannot be printed. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key !== '' && key.length <= limits.idempotencyKeyCharsMax) return key;
  throw new CepError('validation_error', `Idempotency-Key: expected one text of 1 to ${limits.idempotencyKeyCharsMax} characters`);
}

function callOf<Caller>(request: FastifyRequest, reply: FastifyReply | undefined, options: HttpAppOptions<Caller>): Call<Caller> {
  return new RequestCall(request, reply, options);
}

/**
 * A class, for the getters of an object literal are made anew with each object, and with them its hidden class: that is old from the start to
 * the collector of garbage, which then keeps all of the request until it goes through everything.
 */
class RequestCall<Caller> implements Call<Caller> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: FastifyRequest['headers'];
  readonly requestId: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly #options: HttpAppOptions<Caller>;

  constructor(request: FastifyRequest, reply: FastifyReply | undefined, options: HttpAppOptions<Caller>) {
    this.params = request.params as Record<string, string>;
    this.query = request.queryValues;
    this.body = request.body;
    this.headers = request.headers;
    this.requestId = request.id;
    this.request = request;
    this.reply = reply as FastifyReply;
    this.#options = options;
  }

  get caller(): Caller {
    const { request } = this;
    if (request.caller !== undefined) return request.caller as Caller;
    const found = callerOf(request, this.#options.callers);
    if ('error' in found) throw found.error;
    return found.caller;
  }

  get signal(): AbortSignal {
    return signalOf(this.request, this.reply);
  }

  get telemetry(): Telemetry {
    return telemetryOf(this.request, this.#options.telemetry);
  }
}

/** A repeat of the request may wait for the result of one with an idempotency key, so that goes on without its client. */
function signalOf(request: FastifyRequest, reply: FastifyReply | undefined): AbortSignal {
  if (request.hungUp === undefined) {
    const controller = new AbortController();
    request.hungUp = controller.signal;
    // One request may begin hundreds of things, each of which listens.
    setMaxListeners(0, controller.signal);
    const response = reply?.raw;
    if (request.headers['idempotency-key'] === undefined) response?.once('close', () => response.writableFinished || controller.abort());
  }
  return request.hungUp;
}
