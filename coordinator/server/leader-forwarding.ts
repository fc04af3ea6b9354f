import type { FastifyRequest } from 'fastify';
import { errorCodes } from '../../shared/errors/codes.ts';
import { CepError } from '../../shared/errors/error.ts';
import { Answer } from '../../shared/http/answer.ts';
import type { WebAnswer, WebDoor } from '../../shared/outbound/web-door.ts';
import type { NoAnswer } from '../cluster/group-member.ts';
import type { RaftStatus } from '../raft/group.ts';
import type { RequestId } from '../state/commands.ts';

/** For all of a request that is handed on, where it is not known to take longer. */
const ANSWER_MS_MAX = 15_000;
/** To learn how far the log goes. */
const READ_INDEX_MS_MAX = 2_000;
/** Headers of a request that mean the same to the leader. */
const handedOn = ['x-api-key', 'authorization', 'content-type', 'idempotency-key', 'traceparent'] as const;
/** Headers of its answer that mean the same to the client. */
const handedBack = ['content-type', 'retry-after', 'x-total-count', 'x-cep-read-index', 'x-cep-consistency', 'www-authenticate'] as const;

/** Nothing of the request was sent. */
const unconnected = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** The member that handed a request on. One that was handed on goes no further. */
export const forwardedHeader = 'x-cep-forwarded';
/** The member that hands a request on waits itself for what comes of it; one of the version before waits for the leader to do so. */
export const waitsHeader = 'x-cep-waits';
const requestHeader = 'x-cep-request';
/** What is asked of the leader to learn how far its log goes: every version answers it. */
const confirmedPath = '/api/v1/cluster/raft/status?consistency=strong';

export interface ForwardOptions {
  /** Makes the request one that can be sent again. */
  readonly id?: RequestId | undefined;
  /** For all of it, ms. @default 15 s */
  readonly answerMsMax?: number | undefined;
  /** Hangs up, so that the leader does not go on for nobody. @default nothing does, before the time is over */
  readonly signal?: AbortSignal | undefined;
  /** Another one leads once it is done, so that this says nothing. */
  readonly endsLead?: true;
}

/** Hands requests on to the leader, as they came. */
export class LeaderForwarding {
  readonly #web: WebDoor;
  readonly #nodeId: number;

  constructor(web: WebDoor, nodeId: number) {
    this.#web = web;
    this.#nodeId = nodeId;
  }

  /** The answer of the leader. */
  async forward(request: FastifyRequest, { leaderUrl }: RaftStatus, options: ForwardOptions = {}): Promise<Answer | NoAnswer> {
    const { id, answerMsMax: deadlineMs = ANSWER_MS_MAX, signal } = options;
    if (leaderUrl === undefined) return 'undone';
    const path = request.url.replace(/^https?:\/\/[^/]*/i, '');
    const target = new URL(leaderUrl.replace(/\/+$/, '') + path);
    const headers = this.#headersOf(request, id);
    try {
      const times = { deadlineMs, headersMs: deadlineMs, ...(signal === undefined ? {} : { signal }) };
      const sent = { method: request.method as 'POST', path, headers, body: request.bodyBytes ?? null, ...times };
      const { statusCode, headers: answered, body } = await this.#web.request(target, sent);
      const bytes = Buffer.from(await body.arrayBuffer());
      if (leadsNoMore(statusCode, bytes)) return 'undone';
      if (id !== undefined && statusCode === errorCodes.outcome_unknown.status && codeIn(bytes) === 'outcome_unknown') return 'unknown';
      const back = handedBack.flatMap((name) => (typeof answered[name] === 'string' ? [[name, answered[name]] as const] : []));
      return new Answer(statusCode, bytes, Object.fromEntries(back));
    } catch (error) {
      return unconnected.has((error as NodeJS.ErrnoException).code ?? '') ? 'undone' : 'unknown';
    }
  }

  /**
   * Up to where the log of the leader had everything that was acknowledged; asked for by the right of a request.
   * @throws CepError `rate_limited`
   */
  async readIndex(request: FastifyRequest, { leaderUrl }: RaftStatus): Promise<number | NoAnswer> {
    if (leaderUrl === undefined) return 'undone';
    const target = new URL(leaderUrl.replace(/\/+$/, '') + confirmedPath);
    const answer = await this.#answerOf(target, request);
    if (answer?.statusCode === errorCodes.rate_limited.status) {
      const message = 'the leader, which this has to ask, takes no more requests of this client at the moment; nothing of this was done';
      throw new CepError('rate_limited', message, { retryAfterSeconds: 1 });
    }
    const index = answer?.headers['x-cep-read-index'];
    return answer?.statusCode === 200 && typeof index === 'string' ? Number(index) : 'undone';
  }

  async #answerOf(target: URL, request: FastifyRequest): Promise<WebAnswer | undefined> {
    try {
      const sent = { method: 'GET', headers: this.#headersOf(request, undefined), body: null, deadlineMs: READ_INDEX_MS_MAX } as const;
      const answer = await this.#web.request(target, sent);
      this.#web.leave(answer);
      return answer;
    } catch {
      return undefined;
    }
  }

  #headersOf(request: FastifyRequest, id: RequestId | undefined): Record<string, string> {
    const headers: Record<string, string> = { 'x-request-id': request.id, [forwardedHeader]: String(this.#nodeId), [waitsHeader]: 'true' };
    for (const name of handedOn) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    if (id !== undefined) headers[requestHeader] = `${id.session} ${id.sequence} ${id.lowestUnacknowledged}`;
    return headers;
  }
}

/** It has no more to say in the group, or ends: whoever leads next is asked. */
function leadsNoMore(status: number, body: Buffer): boolean {
  if (status === errorCodes.not_leader.status) return true;
  return status === errorCodes.not_ready.status && codeIn(body) === 'not_ready';
}

/** With which code a member refused what it was handed; undefined of an answer that is no refusal of its own. */
export function refusedWith({ status, body }: Answer): string | undefined {
  return status >= 400 && Buffer.isBuffer(body) ? codeIn(body) : undefined;
}

function codeIn(body: Buffer): string | undefined {
  try {
    return (JSON.parse(body.toString()) as { readonly code?: string } | null)?.code;
  } catch {
    return undefined; // Whatever answered is no member.
  }
}

/** The identity that the member gave which handed the request on; undefined when none did, or its client gave one of its own. */
export function forwardedId({ headers }: Pick<FastifyRequest, 'headers'>): RequestId | undefined {
  const text = headers[requestHeader];
  if (headers[forwardedHeader] === undefined || typeof text !== 'string') return undefined;
  const [, session, sequence, lowest] = /^([\w-]{1,64}) (\d{1,15}) (\d{1,15})$/.exec(text) ?? [];
  if (session === undefined) return undefined;
  return { session, sequence: Math.max(1, Number(sequence)), lowestUnacknowledged: Math.max(1, Number(lowest)), digest: '' };
}
