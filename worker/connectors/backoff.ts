const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/** How long to wait before what failed is tried again: longer each time, by chance within that, so that many do not come back together. */
export class Backoff {
  #tries = 0;

  /** ms. */
  next(): number {
    const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#tries++);
    return ceiling / 2 + (Math.random() * ceiling) / 2;
  }

  /** It worked. */
  reset(): void {
    this.#tries = 0;
  }
}
