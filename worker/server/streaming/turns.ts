/** Milliseconds of work after which everything else gets its turn. */
const workMsMax = 2;

/**
 * Work for many clients, done a few milliseconds at a time, so that ten thousand readers of one output never hold up a
 * request. What is added twice before its turn is done once.
 */
export class Turns {
  readonly #waiting = new Set<() => void>();
  #isPlanned = false;

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
    const endMs = performance.now() + workMsMax;
    for (const work of this.#waiting) {
      this.#waiting.delete(work);
      work();
      if (performance.now() >= endMs) break;
    }
    this.#isPlanned = this.#waiting.size > 0;
    if (this.#isPlanned) setImmediate(() => this.#run());
  }
}
