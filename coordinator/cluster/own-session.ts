import { randomUUID } from 'node:crypto';
import { CepError } from '../../shared/errors/error.ts';
import { bounds } from '../state/bounds.ts';
import type { RequestId } from '../state/commands.ts';

/** A request that this member sends, until it is answered. */
export interface OpenRequest {
  readonly id: RequestId;
  /** Nobody asks for its result any more. */
  readonly end: () => void;
  /** It was done, so the group knows its session. */
  readonly established: () => void;
}

/**
 * The session under which a member has done what clients asked for without a key of their own, so that a request whose answer was lost on
 * the way can be sent again. The group makes a session when the first of its requests is done, and not when that is refused: until then
 * each request has a session to itself, of which it is the first.
 */
export class OwnSession {
  #session: string | undefined;
  #next = 1;
  #open = new Set<number>();
  #alone = 0;

  /** @throws CepError `overloaded` while too many are under way */
  begin(): OpenRequest {
    const waiting = this.#open.size + this.#alone;
    if (waiting >= bounds.sessionResultsMax) {
      throw new CepError('overloaded', `${waiting} requests wait for the group already; nothing of this one was done`, {
        retryAfterSeconds: 1,
      });
    }
    return this.#session === undefined ? this.#beginAlone() : this.#beginIn(this.#session);
  }

  /** The group has forgotten the session: requests from now on are of others. */
  renew(forgotten: string): void {
    if (forgotten === this.#session) this.#session = undefined;
  }

  #beginAlone(): OpenRequest {
    const session = randomUUID();
    this.#alone++;
    const established = (): void => {
      if (this.#session !== undefined) return;
      this.#session = session;
      this.#next = 2;
      this.#open = new Set();
    };
    return { id: { session, sequence: 1, lowestUnacknowledged: 1, digest: '' }, end: () => void this.#alone--, established };
  }

  #beginIn(session: string): OpenRequest {
    const open = this.#open;
    const sequence = this.#next++;
    open.add(sequence);
    const [lowestUnacknowledged = sequence] = open;
    const id = { session, sequence, lowestUnacknowledged, digest: '' };
    return { id, end: () => void open.delete(sequence), established: () => undefined };
  }
}
