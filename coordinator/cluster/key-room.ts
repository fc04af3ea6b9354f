import type { CepError } from '../../shared/errors/error.ts';
import { bounds } from '../state/bounds.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import { refusalError } from './refusal-error.ts';

/** What clients with keys leave of the room for sessions: members, which do what comes without one and what workers say, need some of it. */
const KEPT_SHARE = 0.02;

export const keysMax = Math.floor(bounds.sessionsMax * (1 - KEPT_SHARE));
const keyCharsMax = Math.floor(bounds.sessionCharsMax * (1 - KEPT_SHARE));

/**
 * Why a request under a key of its client is not proposed. The state would take some more of them; that it does not is no part of what members
 * decide alike. Once the oldest may be forgotten, which a command does that is proposed, there is room.
 */
export function keyRoomProblem(state: ClusterState, session: string, nowMs: number): CepError | undefined {
  const { sessions, sessionsByUse, sessionChars } = state;
  const isFull = sessions.size >= keysMax || sessionChars >= keyCharsMax;
  if (!isFull || sessions.has(session)) return undefined;
  const oldest = sessions.get(sessionsByUse.first() ?? '');
  if (oldest !== undefined && oldest.usedAtMs + bounds.sessionMsMax <= nowMs) return undefined;
  const of = sessions.size >= keysMax ? `${keysMax} requests` : `requests with ${keyCharsMax} characters`;
  return refusalError({
    code: 'overloaded',
    message: `the cluster keeps the results of ${of} under a key of their own already, as many as it can; nothing of this one was done`,
    hint: 'send it again later: results are kept for ten minutes after the last use of their key',
  });
}
