/** So many messages are remembered: one of them was hardly delayed, and a clock that was set back is believed after so many. */
const REMEMBERED = 4;

/**
 * The wall clock of another process, as its messages show it. Each says what the clock showed when it was sent, and was under way for a
 * while, so the least delayed is nearest. Between messages it goes on by a clock of this process that nobody sets.
 */
export class RemoteClock {
  readonly #bases: number[] = [];

  /** @param shownMs Epoch ms. @param atMs When it was heard, by the clock that nobody sets. */
  heard(shownMs: number, atMs: number): void {
    this.#bases.push(shownMs - atMs);
    if (this.#bases.length > REMEMBERED) this.#bases.shift();
  }

  /** Epoch ms at the moment 0 of the clock that nobody sets; undefined while nothing was heard. */
  get baseMs(): number | undefined {
    return this.#bases.length === 0 ? undefined : Math.max(...this.#bases);
  }
}
