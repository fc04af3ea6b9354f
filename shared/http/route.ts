import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { WebSocket } from 'ws';
import type { ErrorCode } from '../errors/codes.ts';
import type { Telemetry } from '../telemetry/internal-events.ts';
import type { QueryTable, QueryValues } from './query.ts';

/**
 * Who may call a route. `open`: everybody. `key`: whoever has a key. `admin`: whoever has the server's own key.
 * `signature`: the handler checks a signature, or asks for the caller. While no key is configured everybody may call all.
 */
export type RouteAccess = 'open' | 'key' | 'admin' | 'signature';

/** One request, as a handler sees it. */
export interface Call<Caller, Params extends string = string, Body = unknown, Query = unknown> {
  readonly params: Readonly<Record<Params, string>>;
  readonly query: Query;
  /** Checked against the route's schema; the bytes as they came when the route takes bytes; undefined when it takes none. */
  readonly body: Body;
  /** Whose key the request carries. @throws CepError `missing_api_key`, `invalid_api_key` on routes that are not `key` or `admin` */
  readonly caller: Caller;
  readonly headers: FastifyRequest['headers'];
  readonly requestId: string;
  /** Aborted when the client hangs up before it has its answer. */
  readonly signal: AbortSignal;
  /** Lines carry the request's id. */
  readonly telemetry: Telemetry;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What is known of a request before its body is read. */
export type Arrival<Caller, Params extends string = string> = Pick<Call<Caller, Params>, 'params' | 'caller' | 'headers' | 'signal'>;

/** A body that a route takes as bytes. */
export interface BytesBody {
  readonly contentTypes: readonly string[];
  readonly bytesMax: number;
  /** What the bytes mean, for the documentation. */
  readonly schema: TSchema;
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parameters as `{id}`. */
  readonly path: string;
  /** Unique; camel case, a verb first. */
  readonly operation: string;
  readonly summary: string;
  readonly tag: string;
  readonly access: RouteAccess;
  /** Answers by status; the first is that of a handler which returns plain data. */
  readonly success: Readonly<Record<number, TSchema | string>>;
  /** The content type of a success that is no JSON. */
  readonly textType?: string;
  /** Bodies of errors that say more than others, by status. */
  readonly errorBodies?: Readonly<Record<number, TSchema>>;
  /** Beyond those that its access, body and limits bring. */
  readonly errors?: readonly ErrorCode[];
  /** Never limited by the rate limit, no client among those that share the thread, and answered while the server is not ready. */
  readonly isProbe?: true;
  /** What the processes of a cluster ask of each other: with the server's own key never limited by the rate limit, which is for clients. */
  readonly isOfCluster?: true;
  /** Honours `Idempotency-Key`: `answer` = the first answer is given again, `handler` = the handler sees to it. */
  readonly idempotency?: 'answer' | 'handler';
  /** Honours `If-Match`: what the client has seen is what it changes. Other routes that change something refuse it. */
  readonly isConditional?: true;
  /** Answers may be large: a client that asks for many of them waits; who has the server's own key does not. */
  readonly isPaced?: true;
  /** The parameter that says for whom the request is: what callers of one key ask for has a share of the thread for each value of it. */
  readonly sharedBy?: string;
  /** Whose share of the thread a request is of that needs no key; undefined = nobody's, it is refused. @default such requests wait for no turn */
  readonly shareOf?: (params: Readonly<Record<string, string>>) => string | undefined;
  /** Leaves a record of who did it. */
  readonly isAudited?: true;
  /** The key may also stand in the query as `api_key`, for clients that cannot send headers. */
  readonly keyInQuery?: true;
  /** A client may leave the body out. */
  readonly isBodyOptional?: true;
}

export interface Route<Caller> extends RouteFacts {
  readonly query: QueryTable;
  readonly body?: TSchema;
  readonly bytes?: BytesBody;
  readonly admit?: (arrival: Arrival<Caller>) => void | Promise<void>;
  /** Gives the answer, plain data for the first success, or nothing when it has written to `call.reply.raw` itself. */
  readonly handle?: (call: Call<Caller>) => unknown;
  readonly webSocket?: (socket: WebSocket, call: Call<Caller>) => void;
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamsOf<Rest> : never;

interface RouteSpec<Caller, Path extends string, Query extends QueryTable, Body> extends RouteFacts {
  readonly path: Path;
  readonly query?: Query;
  /** Asked when the caller is known and before the body is read. @throws CepError the refusal */
  readonly admit?: (arrival: Arrival<Caller, ParamsOf<Path>>) => void | Promise<void>;
  readonly handle?: (call: Call<Caller, ParamsOf<Path>, Body, QueryValues<Query>>) => unknown;
}

/** What asks from outside whether the process lives, such as a load balancer, may put into the query what it likes. */
export function readsNoQuery({ isProbe, query }: Pick<Route<never>, 'isProbe' | 'query'>): boolean {
  return isProbe === true && Object.keys(query).length === 0;
}

/** Declares routes of one kind of caller; the types of parameters, query and body come from the declaration. */
export interface RouteMaker<Caller> {
  <const Path extends string, Body extends TSchema, const Query extends QueryTable = Record<never, never>>(
    spec: RouteSpec<Caller, Path, Query, Static<Body>> & { readonly body: Body },
  ): Route<Caller>;
  <const Path extends string, const Query extends QueryTable = Record<never, never>>(
    spec: RouteSpec<Caller, Path, Query, Buffer> & { readonly bytes: BytesBody },
  ): Route<Caller>;
  <const Path extends string, const Query extends QueryTable = Record<never, never>>(
    spec: RouteSpec<Caller, Path, Query, undefined> & { readonly webSocket?: (socket: WebSocket, call: Call<Caller>) => void },
  ): Route<Caller>;
}

export function routeMaker<Caller>(): RouteMaker<Caller> {
  return ((spec: Route<Caller>) => ({ ...spec, query: spec.query ?? {} })) as unknown as RouteMaker<Caller>;
}
