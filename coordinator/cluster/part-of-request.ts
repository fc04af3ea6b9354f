import { createHash } from 'node:crypto';
import type { RequestId } from '../state/commands.ts';

/**
 * By which a command of a request has one effect: the first by the id of the request. A client's key makes a session of its own, in which each
 * has a place; in the session of a member the next place is another request's, so that the others have a session to themselves.
 */
export function partOfRequest(id: RequestId, at: number): RequestId {
  if (at === 0) return id;
  if (isOfClient(id)) return { ...id, sequence: id.sequence + at };
  const session = createHash('sha256').update(`${id.session} ${id.sequence}`).digest('base64url');
  return { session, sequence: at, lowestUnacknowledged: 1, digest: '' };
}

/** Ids of members have no digest. */
export function isOfClient({ digest }: RequestId): boolean {
  return digest !== '';
}
