import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import Type from 'typebox';
import { errorCodes } from '../../shared/errors/codes.ts';
import { CepError } from '../../shared/errors/error.ts';
import { Answer } from '../../shared/http/answer.ts';
import type { QueryParameter } from '../../shared/http/query.ts';
import { idempotencyKeyOf } from '../../shared/http/register-route.ts';
import type { Call } from '../../shared/http/route.ts';
import { type Done, type GroupMember, isLedAlike, type NoAnswer } from '../cluster/group-member.ts';
import { keyRoomProblem } from '../cluster/key-room.ts';
import { OwnSession } from '../cluster/own-session.ts';
import { refusalError } from '../cluster/refusal-error.ts';
import type { RaftStatus } from '../raft/group.ts';
import { apply } from '../state/apply.ts';
import type { ClusterState, Json } from '../state/cluster-state.ts';
import type { Command, RequestId } from '../state/commands.ts';
import { remembered } from '../state/sessions.ts';
import type { Operator } from './cluster-route.ts';
import { type ForwardOptions, forwardedHeader, forwardedId, type LeaderForwarding, refusedWith, waitsHeader } from './leader-forwarding.ts';

type ClusterCall = Pick<Call<Operator>, 'request' | 'caller'>;
type Consistency = 'strong' | 'stale' | undefined;

/** How fresh an answer must be. */
export const consistencyParameter: QueryParameter<Consistency> = {
  schema: Type.String({ enum: ['strong', 'stale'] }),
  doc: '`strong`: what was acknowledged to anybody before the request is in the answer. `stale`, and without it: what the asked member has.',
  read: (text) => {
    if (text === undefined || text === 'strong' || text === 'stale') return text;
    throw new CepError('validation_error', `consistency: found '${text}', expected strong or stale`);
  },
};

/** Up to where in the log the answer knows. */
export const indexHeader = 'x-cep-read-index';
export const consistencyHeader = 'x-cep-consistency';

interface SessionOptions extends Omit<ForwardOptions, 'id'> {
  /** What a worker says of itself: it has a session beside those of clients, so that these cannot fill it. */
  readonly isOfWorker?: boolean;
}

interface OwnOptions extends SessionOptions {
  readonly isFirst: boolean;
}

export interface ChangeOptions extends SessionOptions {
  /** Refuses it on the leader. */
  readonly require?: (id: RequestId) => Promise<void>;
}

/** How requests are carried out: changes by the leader, wherever they come in; reads here, or confirmed by the leader. */
export class ClusterRequests {
  readonly group: GroupMember;
  readonly #forwarding: LeaderForwarding;
  readonly #own = new OwnSession();
  readonly #ofWorkers = new OwnSession();
  /** Ends the requests that were handed on to the leader of now once another one leads. */
  #left = endOfMany();

  constructor(group: GroupMember, forwarding: LeaderForwarding) {
    this.group = group;
    this.#forwarding = forwarding;
    let before = group.status();
    group.onStatus((now) => {
      const isAlike = isLedAlike(before, now);
      before = now;
      if (isAlike) return;
      const left = this.#left;
      this.#left = endOfMany();
      left.abort();
    });
  }

  /**
   * Has a command agreed on, once, however often its client or a member sends the request. `answer`: of what the state says it did.
   * @param command A function makes it on the leader.
   */
  change(
    call: ClusterCall,
    command: Command | ((id: RequestId) => Promise<Command>),
    answer: (done: Done) => Answer,
    options: ChangeOptions = {},
  ): Promise<Answer> {
    const { require, ...forwarding } = options;
    const act = async (id: RequestId): Promise<Answer> => {
      await require?.(id);
      const done = await this.group.propose(typeof command === 'function' ? await command(id) : command, id);
      const { status, body, headers } = answer(done);
      return new Answer(status, body, { ...headers, [indexHeader]: String(done.index) });
    };
    return this.changeBy(call, act, forwarding);
  }

  /** Has something done on the leader that proposes under an id, by which it has one effect. As each event that is injected passes here, it is no async function. */
  changeBy(call: ClusterCall, act: (id: RequestId) => Promise<Answer>, options: SessionOptions = {}): Promise<Answer> {
    const ofKey = clientId(call);
    const given = ofKey ?? forwardedId(call.request);
    if (given === undefined) return this.#changeAsOwn(call, act, { ...options, isFirst: true });
    const here = async (): Promise<Answer> => {
      if (ofKey) await this.#requireRoomFor(ofKey);
      return await act(given);
    };
    const { answerMsMax, signal } = options;
    return this.byLeader(call, here, { answerMsMax, signal, id: given });
  }

  /** Under a session of this member. `isFirst`: it is tried a second time where the group has forgotten that. */
  #changeAsOwn(call: ClusterCall, act: (id: RequestId) => Promise<Answer>, options: OwnOptions): Promise<Answer> {
    const { isOfWorker = false, isFirst, answerMsMax, signal } = options;
    const sessions = isOfWorker ? this.#ofWorkers : this.#own;
    const { id, established, end } = sessions.begin();
    // The first word of a session that was not used for long: nothing of it was done. The next attempt has a session to itself.
    const again = (): Promise<Answer> => {
      sessions.renew(id.session);
      return this.#changeAsOwn(call, act, { ...options, isFirst: false });
    };
    return this.byLeader(call, () => act(id), { answerMsMax, signal, id }).then(
      (told) => {
        if (told.status < 300) established();
        end();
        // The leader's answer to a member that follows; thrown where the leader is here.
        return isFirst && told.status === errorCodes.session_expired.status ? again() : told;
      },
      (error) => {
        end();
        if (isFirst && error instanceof CepError && error.code === 'session_expired') return again();
        throw error;
      },
    );
  }

  /** On the leader. @throws CepError `overloaded`; RaftRefusal */
  async #requireRoomFor({ session }: RequestId): Promise<void> {
    const { group } = this;
    if (keyRoomProblem(group.state, session, group.timeMs) === undefined) return;
    // It may be one that was done.
    const { state } = await group.confirmed();
    const problem = keyRoomProblem(state, session, group.timeMs);
    if (problem) throw problem;
  }

  /**
   * What came of a request that its client has sent before under a key of its own; undefined when this member knows of none. A repeat is not
   * judged by what is there now. @throws CepError `idempotency_conflict`
   */
  doneBefore(call: ClusterCall): Json | undefined {
    const id = clientId(call);
    return id && doneIn(this.group.state, id);
  }

  /** The same of the leader, where nothing is unknown that was done. @throws CepError `idempotency_conflict`; RaftRefusal */
  async doneBy(id: RequestId): Promise<Json | undefined> {
    const { state } = await this.group.confirmed();
    return doneIn(state, id);
  }

  /** On the leader: what would come of a command now. @throws CepError what it would be refused with; RaftRefusal */
  async foreseen(command: Command, request: RequestId): Promise<{ readonly isRepeat: boolean }> {
    const { state } = await this.group.confirmed();
    const at = { index: state.index + 1, term: state.term };
    const { result } = apply(state, { command, request, atMs: state.nowMs }, at);
    if (result.kind === 'refused') throw refusalError(result.refusal);
    return result;
  }

  /**
   * The state here with everything that was acknowledged to anybody before the call, for what a change is judged by: a member that follows
   * knows of it a moment later than the leader. @throws CepError `no_leader`; `overloaded` when it does not come here in time
   */
  async caughtUp(call: ClusterCall): Promise<ClusterState> {
    const here = async (): Promise<number> => (await this.group.confirmed()).index;
    const elsewhere = async (status: RaftStatus): Promise<number | NoAnswer> => {
      if (this.isForwarded(call)) throw notLeader(status);
      return await this.#forwarding.readIndex(call.request, status);
    };
    const index = await this.group.byLeader(here, elsewhere, { isRead: true });
    if (await this.group.catchUp(index)) return this.group.state;
    throw new CepError('overloaded', 'this member does not know yet all that this is judged by; nothing of it was done', {
      hint: 'send it again, or to another member',
      retryAfterSeconds: 1,
    });
  }

  /** The same for what changes nothing: without a leader what this member has, as in an answer that is `isStale`. @throws CepError as `caughtUp`, but for `no_leader` */
  async known(call: ClusterCall): Promise<{ readonly state: ClusterState; readonly isStale: boolean }> {
    try {
      return { state: await this.caughtUp(call), isStale: false };
    } catch (error) {
      if (!(error instanceof CepError && error.code === 'no_leader')) throw error;
      return { state: this.group.state, isStale: true };
    }
  }

  /** Another member has handed the request on, and does what is left to do. */
  isForwarded({ request }: ClusterCall): boolean {
    return request.headers[forwardedHeader] !== undefined;
  }

  /** The same, and it waits for what comes of it. A member of the version before does not, when it hands on a drain. */
  isWaitedFor(call: ClusterCall): boolean {
    return this.isForwarded(call) && call.request.headers[waitsHeader] !== undefined;
  }

  /** Has something done where the leader is; it must have one effect however often it is done. What it changed is then in the state here. */
  byLeader(call: ClusterCall, here: () => Promise<Answer>, options?: ForwardOptions): Promise<Answer> {
    const answer = this.group.byLeader(here, (status) => this.#elsewhere(call, status, options), howRefused);
    return answer.then((told) => {
      const index = told.headers[indexHeader];
      return told.status < 300 && index !== undefined ? this.group.catchUp(Number(index)).then(() => told) : told;
    });
  }

  async #elsewhere({ request }: ClusterCall, status: RaftStatus, options?: ForwardOptions): Promise<Answer | NoAnswer> {
    if (request.headers[forwardedHeader] !== undefined) throw notLeader(status);
    return await this.#handOn(request, status, options);
  }

  /** A leader that is none any more, and perhaps silent, is not waited for. */
  #handOn(request: ClusterCall['request'], status: RaftStatus, options: ForwardOptions = {}): Promise<Answer | NoAnswer> {
    if (options.endsLead === true) return this.#forwarding.forward(request, status, options);
    const left = this.#left.signal;
    const signal = options.signal === undefined ? left : AbortSignal.any([options.signal, left]);
    return this.#forwarding.forward(request, status, { ...options, signal });
  }

  /**
   * What the leader has seen, which is not in the state: asked from the leader, and without one, or when `stale` is asked for, what this member
   * has. `answer` gives it of this member.
   */
  async observed(call: ClusterCall, consistency: Consistency, answer: () => Answer): Promise<Answer> {
    if (consistency === 'strong') return await this.read(call, consistency, answer);
    const status = this.group.status();
    const isAlone = status.role === 'leader' || status.leader === 0 || consistency === 'stale';
    const isHere = isAlone || call.request.headers[forwardedHeader] !== undefined;
    const told = isHere ? 'undone' : await this.#handOn(call.request, status);
    if (told !== 'undone' && told !== 'unknown') return told;
    const isLedHere = this.group.status().role === 'leader';
    const { status: code, body, headers } = answer();
    return new Answer(code, body, { ...headers, [consistencyHeader]: isLedHere ? (consistency ?? 'local') : 'stale' });
  }

  /** What the state says. `answer` is given it, and reads what else it shows in the same turn: with `strong` of the leader. */
  async read(call: ClusterCall, consistency: Consistency, answer: (state: ClusterState) => Answer): Promise<Answer> {
    const shown = (state: ClusterState, index: number, how: string): Answer => {
      const { status, body, headers } = answer(state);
      return new Answer(status, body, { ...headers, [indexHeader]: String(index), [consistencyHeader]: how });
    };
    if (consistency !== 'strong') {
      const { state } = this.group;
      return shown(state, state.index, this.group.status().leader === 0 ? 'stale' : (consistency ?? 'local'));
    }
    const here = async (): Promise<Answer> => {
      const { state, index } = await this.group.confirmed();
      return shown(state, index, 'strong');
    };
    return await this.group.byLeader(here, (status) => this.#elsewhere(call, status), { isRead: true });
  }
}

const howRefused = { refusedWith };

/** Of which many requests wait for the end. */
function endOfMany(): AbortController {
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  return end;
}

function doneIn(state: ClusterState, id: RequestId): Json | undefined {
  const known = remembered(state, id);
  if (known?.kind === 'done') return known.value;
  if (known?.refusal.code === 'idempotency_conflict') throw refusalError(known.refusal);
  return undefined;
}

/** A client's own key makes a session of one request: whoever does not know it cannot meet it. */
function clientId({ request, caller }: ClusterCall): RequestId | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const session = createHash('sha256').update(`${caller.name} ${key}`).digest('base64url');
  const digest = createHash('sha256').update(`${request.method} ${request.url}\n`);
  if (request.bodyBytes) digest.update(request.bodyBytes);
  return { session, sequence: 1, lowestUnacknowledged: 1, digest: digest.digest('base64url') };
}

function notLeader({ nodeId, leader, leaderUrl }: RaftStatus): CepError {
  const who = leader === 0 ? 'it knows of no leader' : `member ${leader} leads`;
  return new CepError('not_leader', `member ${nodeId} does not lead the group: ${who}`, {
    details: { leader_id: leader === 0 ? null : leader, leader_url: leaderUrl ?? null },
    hint: 'send it to the leader',
  });
}
