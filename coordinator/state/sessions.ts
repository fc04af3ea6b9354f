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
export function remembered(
  state: ClusterState,
  { session: id, sequence, lowestUnacknowledged, digest }: RequestId,
): CommandResult | undefined {
  const session = state.sessions.get(id);
  if (session === undefined && sequence > 1) return refusal(expired);
  if (session !== undefined && sequence < session.lowest) return refusal(expired);
  const before = session?.results.find((result) => result.sequence === sequence);
  if (before === undefined) return roomProblem(state, session, lowestUnacknowledged);
  return before.digest === digest ? { kind: 'done', value: before.value, isRepeat: true } : refusal(conflict);
}

/** The state with the result of a request that was new. */
export function withResult(
  state: ClusterState,
  { session: id, sequence, lowestUnacknowledged, digest }: RequestId,
  { value, place }: { readonly value: Json; readonly place: Place },
): ClusterState {
  const before = state.sessions.get(id);
  // Others of the session were in the same command.
  if (before !== undefined && sequence < before.lowest) return state;
  const lowest = Math.max(before?.lowest ?? 1, Math.min(lowestUnacknowledged, sequence));
  const results: SessionResult[] = [];
  const own = { sequence, digest, value, chars: JSON.stringify(value).length };
  let { chars } = own;
  // Every event that comes alone passes here, and there are as many results as requests under way: they are gone through once.
  for (const result of before?.results ?? []) {
    if (result.sequence < lowest || result.sequence === sequence) continue;
    results.push(result);
    chars += result.chars;
  }
  results.push(own);
  const session: Session = { id, lowest, results, usedIndex: place.index, usedAtMs: place.nowMs, chars };
  return {
    ...state,
    sessions: state.sessions.set(id, session),
    sessionsByUse: before?.usedIndex === place.index ? state.sessionsByUse : usedAgain(state, before, session),
    sessionChars: state.sessionChars + chars - (before?.chars ?? 0),
  };
}

function usedAgain({ sessionsByUse }: ClusterState, before: Session | undefined, session: Session): ClusterState['sessionsByUse'] {
  const others = before === undefined ? sessionsByUse : sessionsByUse.delete(useKey(before));
  return others.set(useKey(session), session.id);
}

function roomProblem(state: ClusterState, session: Session | undefined, lowest: number): CommandResult | undefined {
  let waiting = 0;
  for (const { sequence } of session?.results ?? []) if (sequence >= lowest) waiting++;
  if (waiting >= bounds.sessionResultsMax) return full(`${bounds.sessionResultsMax} requests of one session`);
  if (session === undefined && state.sessions.size >= bounds.sessionsMax) return full(`${bounds.sessionsMax} sessions`);
  return state.sessionChars >= bounds.sessionCharsMax ? full(`requests with ${bounds.sessionCharsMax} characters`) : undefined;
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
