import { randomUUID } from 'node:crypto';
import { CepError } from '../../shared/errors/error.ts';
import { bounds } from '../state/bounds.ts';
import type { RequestId } from '../state/commands.ts';

/** A request that this member sends, until it is answered. */
export interface OpenRequest {
  readonly id: RequestId;
  /** Nobody asks for its result any more. */
  readonly end: () => void;
}

/**
 * The session under which a member has done what clients asked for without a key of their own, so that a request whose answer was lost on
 * the way can be sent again.
 */
export class OwnSession {
  #session = randomUUID();
  #next = 1;
  #open = new Set<number>();

  /** @throws CepError `overloaded` while too many are under way */
  begin(): OpenRequest {
    if (this.#open.size >= bounds.sessionResultsMax) {
      throw new CepError('overloaded', `${this.#open.size} requests wait for the group already; nothing of this one was done`, {
        retryAfterSeconds: 1,
      });
    }
    const open = this.#open;
    const sequence = this.#next++;
    open.add(sequence);
    const [lowestUnacknowledged = sequence] = open;
    return { id: { session: this.#session, sequence, lowestUnacknowledged, digest: '' }, end: () => void open.delete(sequence) };
  }

  /** The group has forgotten the session: requests from now on are of another one. */
  renew(forgotten: string): void {
    if (forgotten !== this.#session) return;
    this.#session = randomUUID();
    this.#next = 1;
    this.#open = new Set();
  }
}
