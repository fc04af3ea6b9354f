import { CepError } from '../../../shared/errors/error.ts';
import { Debt } from '../../../shared/security/debt.ts';
import type { Waiting } from '../service.ts';

export interface FairQueueOptions {
  /** What is done here, for messages. */
  readonly what: string;
  /** Pieces of work that may be under way at a time. */
  readonly places: number;
  /** Pieces of one owner that may wait. */
  readonly waitingMax: number;
  /** How long a piece may wait before it is refused, ms. */
  readonly waitMsMax: number;
  /** Bounds what the pieces of one owner take together, where places are not enough. @default each goes on as long as it has pieces */
  readonly share?: Share;
}

/** How much of the time an owner may have a place. */
interface Share {
  /** 0.25 = a quarter of it. */
  readonly part: number;
  /** What is not used is saved up to this, ms. */
  readonly savedMsMax: number;
  /** Owners of whom as much is done as they ask for. */
  readonly isUnbounded: (owner: string) => boolean;
}

interface Piece {
  begin(): void;
  refuse(error: CepError): void;
}

/**
 * Work of many owners in few places. An owner has one piece under way at a time, and owners take turns: however much one of them asks
 * for, each of the others waits for at most one piece of it. Pieces of one owner are done in the order in which they came.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** Owners with work, in the order of their turns. */
  readonly #waiting = new Map<string, Piece[]>();
  /** By their owners. */
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Work of owners with a bounded share that is not made up for by rest yet, ms. */
  readonly #spent = new Map<string, Debt>();
  #wakeUp: NodeJS.Timeout | undefined;
  #placesTaken = 0;
  #isClosed = false;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /**
   * Does it in its turn. `leave`: what it is under way with takes long, and needs its place no longer. @throws CepError `queue_full` when
   * the owner has too much waiting, `not_ready` when its turn does not come, or nobody waits any more when it does; nothing was done then
   */
  run<T>(owner: string, action: (leave: () => void) => Promise<T>, { signal }: Waiting = {}): Promise<T> {
    const { what, waitingMax, waitMsMax } = this.#options;
    const waiting = this.#waiting.get(owner) ?? [];
    if (waiting.length >= waitingMax) {
      const message = `${waiting.length} requests of the tenant wait for ${what} already`;
      return Promise.reject(new CepError('queue_full', message, { hint: 'wait for their answers', retryAfterSeconds: 1 }));
    }
    if (signal?.aborted) return Promise.reject(abandoned(what));
    if (this.#isClosed) return Promise.reject(stopping(what));
    return new Promise<T>((resolve, reject) => {
      const giveUp = (error: CepError): void => {
        this.#forget(owner, entry);
        settle();
        reject(error);
      };
      const onAbort = (): void => giveUp(abandoned(what));
      const outOfTime = (): void =>
        giveUp(new CepError('not_ready', `the server had no time for ${what}: try again`, { retryAfterSeconds: 5 }));
      const timer = setTimeout(outOfTime, waitMsMax).unref();
      signal?.addEventListener('abort', onAbort);
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const entry: Piece = {
        refuse: giveUp,
        begin: () => {
          settle();
          const leave = this.#takePlace(owner);
          const done = action(leave)
            .then(resolve, reject)
            .finally(() => {
              this.#underWay.delete(owner);
              leave();
              this.#beginNext();
            });
          this.#underWay.set(owner, done);
        },
      };
      this.#waiting.set(owner, [...waiting, entry]);
      this.#beginNext();
    });
  }

  /** Refuses what waits, and all that comes. Resolves when what is under way is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const piece of Array.from(this.#waiting.values()).flat()) piece.refuse(stopping(this.#options.what));
    await Promise.allSettled(this.#underWay.values());
  }

  /** Gives what frees it again, once. */
  #takePlace(owner: string): () => void {
    this.#placesTaken++;
    const began = performance.now();
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#placesTaken--;
      this.#spend(owner, performance.now() - began);
      this.#beginNext();
    };
  }

  #beginNext(): void {
    if (this.#placesTaken >= this.#options.places) return;
    let restMs = Number.POSITIVE_INFINITY;
    for (const [owner, waiting] of this.#waiting) {
      const [first, ...rest] = waiting;
      if (first === undefined || this.#underWay.has(owner)) continue;
      const ownersRestMs = this.#restMs(owner);
      restMs = Math.min(restMs, ownersRestMs || Number.POSITIVE_INFINITY);
      if (ownersRestMs > 0) continue;
      // Behind all others, so that its next piece comes after theirs.
      this.#waiting.delete(owner);
      if (rest.length > 0) this.#waiting.set(owner, rest);
      first.begin();
      this.#beginNext();
      return;
    }
    clearTimeout(this.#wakeUp);
    if (Number.isFinite(restMs)) this.#wakeUp = setTimeout(() => this.#beginNext(), Math.ceil(restMs)).unref();
  }

  /** How long the owner has to rest until its next piece, ms. */
  #restMs(owner: string): number {
    return this.#spent.get(owner)?.msUntil(this.#options.share?.savedMsMax ?? 0, performance.now()) ?? 0;
  }

  #spend(owner: string, ms: number): void {
    const { share } = this.#options;
    if (share === undefined || share.isUnbounded(owner)) return;
    const now = performance.now();
    const spent = this.#spent.get(owner) ?? new Debt(share.part);
    spent.add(ms, now);
    this.#spent.set(owner, spent);
    for (const [name, debt] of this.#spent) if (debt.at(now) === 0) this.#spent.delete(name);
  }

  #forget(owner: string, entry: Piece): void {
    const left = (this.#waiting.get(owner) ?? []).filter((one) => one !== entry);
    if (left.length > 0) this.#waiting.set(owner, left);
    else this.#waiting.delete(owner);
  }
}

function abandoned(what: string): CepError {
  return new CepError('not_ready', `nobody waits for ${what} any more`);
}

function stopping(what: string): CepError {
  return new CepError('not_ready', `the server stops, and does ${what} no more`, { retryAfterSeconds: 5 });
}
