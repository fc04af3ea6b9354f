/** Between checkpoints that something waits for; longer where they take long, so that they take a bounded share of the time. */
const PAUSE_MS = 250;
const PAUSE_SAVES = 4;
const PAUSE_FAILED_MS = 1_000;

export interface AwaitedSavesOptions {
  /** Ms since some moment; nobody sets it. */
  readonly now: () => number;
  /** Resolves after the time, or at once when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** False when it is not saved. */
  readonly save: () => Promise<boolean>;
}

/** Checkpoints of a placement that something waits for. Whoever comes before one is begun has it together with those who wait already. */
export class AwaitedSaves {
  readonly #options: AwaitedSavesOptions;
  #next: Promise<boolean> | undefined;
  #pauseMs = PAUSE_MS;
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AwaitedSavesOptions) {
    this.#options = options;
  }

  /** Resolves with whether one has counted that was begun after this was called, or with false when the life is over. */
  async next(end: AbortSignal): Promise<boolean> {
    this.#next ??= this.#soon(end);
    return await this.#next;
  }

  /** Has one made after the other until that is so, or the life is over; at least one. */
  async until(isReached: () => boolean, end: AbortSignal): Promise<void> {
    do await this.next(end);
    while (!end.aborted && !isReached());
  }

  async #soon(end: AbortSignal): Promise<boolean> {
    const { now, wait, save } = this.#options;
    await wait(Math.max(0, this.#savedAt + this.#pauseMs - now()), end);
    this.#next = undefined;
    if (end.aborted) return false;
    const began = now();
    const isSaved = await save();
    this.#savedAt = now();
    this.#pauseMs = Math.max(PAUSE_MS, isSaved ? PAUSE_SAVES * (this.#savedAt - began) : PAUSE_FAILED_MS);
    return isSaved;
  }
}
