import { setTimeout as sleep } from 'node:timers/promises';

/** A timer takes at most 2^31 - 1 milliseconds. */
const SLEEP_MS_MAX = 2 ** 31 - 1;

/** Lets recorded time pass as fast as real time, from the first time it is asked for. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #offset: number | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Whether `time`, in epoch milliseconds, has not come yet. */
  mustWait(time: number): boolean {
    return this.#left(time) > 0;
  }

  /** Resolves when `time` has come. Rejects with the signal's reason when it is aborted. */
  async wait(time: number): Promise<void> {
    for (let left = this.#left(time); left > 0; left = this.#left(time)) {
      await sleep(Math.min(left, SLEEP_MS_MAX), undefined, this.#signal ? { signal: this.#signal } : {});
    }
  }

  #left(time: number): number {
    this.#offset ??= performance.now() - time;
    return time + this.#offset - performance.now();
  }
}
