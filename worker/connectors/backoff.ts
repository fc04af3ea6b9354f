const FIRST_MS = 250;
const LONGEST_MS = 10_000;
/** What works for a shorter time may be what the other side ends as soon as it is there. */
const LASTING_MS = 5_000;

/** How long to wait before what failed is tried again: longer each time, by chance within that, so that many do not come back together. */
export class Backoff {
  #tries = 0;

  /** ms. */
  next(): number {
    const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#tries++);
    return ceiling / 2 + (Math.random() * ceiling) / 2;
  }

  /** It worked for so long, ms. */
  lasted(ms: number): void {
    if (ms >= LASTING_MS) this.reset();
  }

  /** It worked. */
  reset(): void {
    this.#tries = 0;
  }
}
