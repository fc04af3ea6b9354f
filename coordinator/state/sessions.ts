import { bounds } from './bounds.ts';
import { type ClusterState, type Json, type Session, type SessionResult, useKey } from './cluster-state.ts';
import type { CommandResult, Place, Refusal } from './commands/outcome.ts';
import type { RequestId } from './request-id.ts';

/** Sessions that one command may forget, so that none takes long. More are made by no command. */
const FORGOTTEN_AT_ONCE = 8;

/**
 * What makes a request that is proposed twice happen once (Ongaro's dissertation, §6.3). A session is forgotten when it was not used for ten
 * minutes, and never before: when there is no room for another one, its request is refused.
 */
export function forgetUnused(state: ClusterState): ClusterState {
  let next = state;
  for (let forgotten = 0; forgotten < FORGOTTEN_AT_ONCE; forgotten++) {
    const oldest = next.sessions.get(next.sessionsByUse.first() ?? '');
    if (oldest === undefined || oldest.usedAtMs + bounds.sessionMsMax > next.nowMs) return next;
    next = {
      ...next,
      sessions: next.sessions.delete(oldest.id),
      sessionsByUse: next.sessionsByUse.delete(useKey(oldest)),
      sessionChars: next.sessionChars - oldest.chars,
    };
  }
  return next;
}

/** What is answered to a request without carrying it out; undefined when it is new. */
export function remembered(state: ClusterState, request: RequestId): CommandResult | undefined {
  return new SessionDrafts(state).remembered(request);
}

/** The state with the result of a request that was new. */
export function withResult(
  state: ClusterState,
  request: RequestId,
  { value, place }: { readonly value: Json; readonly place: Place },
): ClusterState {
  const drafts = new SessionDrafts(state);
  drafts.add(request, { value, place });
  return drafts.into(state);
}

/** A session while a command changes it. */
interface Draft {
  /** Undefined of one that the command makes. */
  readonly before: Session | undefined;
  lowest: number;
  readonly results: SessionResult[];
  chars: number;
}

/** The sessions of a state while one command has the results of many requests: each is copied once, not for each of its requests. */
export class SessionDrafts {
  readonly #state: ClusterState;
  readonly #drafts = new Map<string, Draft>();
  #place: Place | undefined;
  /** Of sessions that there are now. */
  #size: number;
  #chars: number;

  constructor(state: ClusterState) {
    this.#state = state;
    this.#size = state.sessions.size;
    this.#chars = state.sessionChars;
  }

  /** As `remembered`, with what was added. */
  remembered({ session: id, sequence, lowestUnacknowledged, digest }: RequestId): CommandResult | undefined {
    const session = this.#drafts.get(id) ?? this.#state.sessions.get(id);
    if (session === undefined && sequence > 1) return refusal(expired);
    if (session !== undefined && sequence < session.lowest) return refusal(expired);
    const before = session?.results.find((result) => result.sequence === sequence);
    if (before === undefined) return this.#roomProblem(session, lowestUnacknowledged);
    return before.digest === digest ? { kind: 'done', value: before.value, isRepeat: true } : refusal(conflict);
  }

  /** The result of a request that was new. */
  add(
    { session: id, sequence, lowestUnacknowledged, digest }: RequestId,
    { value, place }: { readonly value: Json; readonly place: Place },
  ): void {
    const before = this.#drafts.get(id) ?? this.#state.sessions.get(id);
    // Others of the session were in the same command.
    if (before !== undefined && sequence < before.lowest) return;
    this.#place = place;
    const draft = this.#draftOf(id);
    const lowest = Math.max(draft.lowest, Math.min(lowestUnacknowledged, sequence));
    if (lowest > draft.lowest) this.#forget(draft, (result) => result.sequence < lowest);
    draft.lowest = lowest;
    if (draft.results.some((result) => result.sequence === sequence)) this.#forget(draft, (result) => result.sequence === sequence);
    const chars = JSON.stringify(value).length;
    draft.results.push({ sequence, digest, value, chars });
    draft.chars += chars;
    this.#chars += chars;
  }

  /** A state with what was added; but for sessions it is as it comes. */
  into(state: ClusterState): ClusterState {
    const place = this.#place;
    if (place === undefined) return state;
    const sessions: [string, Session][] = [];
    let { sessionsByUse } = state;
    for (const [id, { before, lowest, results, chars }] of this.#drafts) {
      const session: Session = { id, lowest, results, usedIndex: place.index, usedAtMs: place.nowMs, chars };
      sessions.push([id, session]);
      if (before?.usedIndex !== place.index) sessionsByUse = usedAgain(sessionsByUse, before, session);
    }
    return { ...state, sessions: state.sessions.setAll(sessions), sessionsByUse, sessionChars: this.#chars };
  }

  #draftOf(id: string): Draft {
    const known = this.#drafts.get(id);
    if (known !== undefined) return known;
    const before = this.#state.sessions.get(id);
    if (before === undefined) this.#size++;
    const draft = {
      before,
      lowest: before?.lowest ?? 1,
      results: before === undefined ? [] : [...before.results],
      chars: before?.chars ?? 0,
    };
    this.#drafts.set(id, draft);
    return draft;
  }

  #forget(draft: Draft, isOver: (result: SessionResult) => boolean): void {
    const { results } = draft;
    let kept = 0;
    for (const result of results) {
      if (!isOver(result)) results[kept++] = result;
      else {
        draft.chars -= result.chars;
        this.#chars -= result.chars;
      }
    }
    results.length = kept;
  }

  #roomProblem(session: Pick<Session, 'results'> | undefined, lowest: number): CommandResult | undefined {
    const results = session?.results ?? [];
    // They need not be counted where they are too few.
    const waiting = results.length < bounds.sessionResultsMax ? 0 : results.filter(({ sequence }) => sequence >= lowest).length;
    if (waiting >= bounds.sessionResultsMax) return full(`${bounds.sessionResultsMax} requests of one session`);
    if (session === undefined && this.#size >= bounds.sessionsMax) return full(`${bounds.sessionsMax} sessions`);
    return this.#chars >= bounds.sessionCharsMax ? full(`requests with ${bounds.sessionCharsMax} characters`) : undefined;
  }
}

function usedAgain(byUse: ClusterState['sessionsByUse'], before: Session | undefined, session: Session): ClusterState['sessionsByUse'] {
  const others = before === undefined ? byUse : byUse.delete(useKey(before));
  return others.set(useKey(session), session.id);
}

function refusal(why: Refusal): CommandResult {
  return { kind: 'refused', refusal: why };
}

const expired: Refusal = {
  code: 'session_expired',
  message: 'what this request did is not known any more: it was sent again too late, and may have been done',
  hint: 'look whether it was done, and send it anew if not',
};

const conflict: Refusal = {
  code: 'idempotency_conflict',
  message: 'this Idempotency-Key came before with another request',
  hint: 'use a new key for each request, and the same only to repeat it',
};

function full(of: string): CommandResult {
  const message = `the cluster keeps the results of ${of} already, as many as it can; nothing of this one was done`;
  return refusal({ code: 'overloaded', message, hint: 'send it again later: results are kept for ten minutes' });
}
