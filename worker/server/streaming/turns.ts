/** Milliseconds of work after which everything else gets its turn. */
const workMsMax = 2;
/** Milliseconds that everything else has to itself behind a turn that was cut. What comes meanwhile is written with what waits. */
const pauseMs = 4;

/**
 * Work for many clients, done a few milliseconds at a time, so that ten thousand readers of one output never hold up a
 * request. What is added twice before its turn is done once.
 */
export class Turns {
  readonly #now: () => number;
  readonly #waiting = new Set<() => void>();
  #isPlanned = false;

  /** @param now Milliseconds of any clock that only moves on. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(work: () => void): void {
    this.#waiting.add(work);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#run());
  }

  drop(work: () => void): void {
    this.#waiting.delete(work);
  }

  #run(): void {
    const endMs = this.#now() + workMsMax;
    for (const work of this.#waiting) {
      this.#waiting.delete(work);
      work();
      if (this.#now() >= endMs) break;
    }
    this.#isPlanned = this.#waiting.size > 0;
    if (this.#isPlanned) setTimeout(() => this.#run(), pauseMs);
  }
}
