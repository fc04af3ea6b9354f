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

/** One that the group knows. */
interface Known {
  readonly id: string;
  next: number;
  /** The oldest open one; `next` when none is. */
  oldest: number;
  readonly open: Set<number>;
  usedAtMs: number;
}

/** Places from the oldest request that is open on: the group keeps the results of all of them, and goes through them with each command. */
const PLACES_MAX = 256;
/** While the first request of another session is under way. */
const PLACES_MEANWHILE_MAX = bounds.sessionResultsMax / 2;
/** What was not used for so long may be forgotten soon, and is not used again. */
const UNUSED_MS_MAX = bounds.sessionMsMax / 2;

/**
 * The sessions under which a member has done what clients asked for without a key of their own, so that a request whose answer was lost on
 * the way can be sent again. The group makes a session when the first of its requests is done, and not when that is refused: until then
 * each request has a session to itself, of which it is the first. One is enough while requests are answered in about their order; what
 * is sent behind one that waits for long goes to another, for the group keeps all results of a session behind its oldest open request.
 */
export class OwnSession {
  readonly #now: () => number;
  /** In the order in which they are used: those behind the first go unused once that has room again. */
  #known: Known[] = [];
  #open = 0;
  #alone = 0;

  /** @param now Monotonic, ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @throws CepError `overloaded` while too many are under way */
  begin(): OpenRequest {
    const waiting = this.#open + this.#alone;
    if (waiting >= bounds.sessionResultsMax) {
      throw new CepError('overloaded', `${waiting} requests wait for the group already; nothing of this one was done`, {
        retryAfterSeconds: 1,
      });
    }
    const nowMs = this.#now();
    const session = this.#withRoom(nowMs, PLACES_MAX) ?? (this.#alone > 0 ? this.#withRoom(nowMs, PLACES_MEANWHILE_MAX) : undefined);
    return session === undefined ? this.#beginAlone() : this.#beginIn(session, nowMs);
  }

  /** The group has forgotten the session, and perhaps others: requests from now on are of new ones. */
  renew(forgotten: string): void {
    if (this.#known.some(({ id }) => id === forgotten)) this.#known = [];
  }

  #withRoom(nowMs: number, placesMax: number): Known | undefined {
    const isFresh = ({ usedAtMs }: Known): boolean => nowMs - usedAtMs < UNUSED_MS_MAX;
    if (!this.#known.every(isFresh)) this.#known = this.#known.filter(isFresh);
    return this.#known.find((known) => known.next - known.oldest < placesMax);
  }

  #beginAlone(): OpenRequest {
    const session = randomUUID();
    this.#alone++;
    const established = (): void => {
      const usedAtMs = this.#now();
      if (this.#withRoom(usedAtMs, PLACES_MAX) !== undefined) return;
      this.#known.push({ id: session, next: 2, oldest: 2, open: new Set(), usedAtMs });
    };
    return { id: { session, sequence: 1, lowestUnacknowledged: 1, digest: '' }, end: () => void this.#alone--, established };
  }

  #beginIn(known: Known, nowMs: number): OpenRequest {
    const sequence = known.next++;
    known.open.add(sequence);
    known.usedAtMs = nowMs;
    this.#open++;
    const end = (): void => {
      if (!known.open.delete(sequence)) return;
      this.#open--;
      while (known.oldest < known.next && !known.open.has(known.oldest)) known.oldest++;
    };
    const id = { session: known.id, sequence, lowestUnacknowledged: known.oldest, digest: '' };
    return { id, end, established: () => undefined };
  }
}
