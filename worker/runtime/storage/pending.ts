/** How long a file system may take for a write before nobody waits for it any more, ms. */
export const LATE_MS = 10_000;

/** Why nothing is taken meanwhile. */
export const NO_ANSWER = 'its file system does not answer';

/** Work of a file system, one at a time, which may hang. */
export class Pending {
  readonly #lateMs: number;
  #since: number | null = null;

  constructor(lateMs = LATE_MS) {
    this.#lateMs = lateMs;
  }

  get isUnderWay(): boolean {
    return this.#since !== null;
  }

  /** It takes so long that it may never end. */
  get isLate(): boolean {
    return this.#since !== null && performance.now() - this.#since >= this.#lateMs;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#since = performance.now();
    try {
      return await work();
    } finally {
      this.#since = null;
    }
  }
}
