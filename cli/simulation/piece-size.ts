/** Bytes of the first piece, of which nobody knows how long it takes, and of the smallest: less than a line may be a piece. */
const FIRST_BYTES = 256;
const LEAST_BYTES = 64;
/** For how long a piece is to keep the process busy, which hears of no signal meanwhile. */
const PIECE_MS = 25;
const GROWTH_MAX = 4;

/** How much of a file is worked through at once: the clock is looked at behind each piece, and never within one. */
export class PieceSize {
  #bytes = FIRST_BYTES;

  get bytes(): number {
    return this.#bytes;
  }

  /** What a piece of at most so many bytes has taken. */
  took(ms: number): void {
    const wanted = Math.min(PIECE_MS / ms, GROWTH_MAX) * this.#bytes;
    this.#bytes = Math.min(Math.max(Math.round(wanted), LEAST_BYTES), Number.MAX_SAFE_INTEGER);
  }
}
