const LINE_FEED = 0x0a;
/** More than most lines have: bytes behind a range among which its last line ends. */
const LINE_BYTES = 4_096;
const NOTHING = new Uint8Array();

/**
 * The lines of a file that begin at a byte from `from` on and before `to`: ranges that lie side by side have each line once,
 * wherever they are cut. Is shown the bytes of the file in order, from `start` on, and says which of them are of these lines.
 */
export class LineRange {
  /** The first byte to be shown: one before the range, which tells whether a line begins with it. */
  readonly start: number;
  readonly #to: number;
  #hasBegun: boolean;
  #isThrough = false;

  constructor(from: number, to: number) {
    this.start = Math.max(0, from - 1);
    this.#to = to;
    this.#hasBegun = from === 0;
    this.#isThrough = from >= to;
  }

  /** Nothing of the range is left. */
  get isThrough(): boolean {
    return this.#isThrough;
  }

  /** How many bytes from `at` on are of use, at the first guess. */
  wanted(at: number): number {
    return Math.max(0, this.#to - at) + LINE_BYTES;
  }

  /** The part of a chunk that belongs to the range; `at` is where it begins in the file. */
  cut(chunk: Uint8Array, at: number): Uint8Array {
    const begin = this.#hasBegun ? 0 : this.#begin(chunk, at);
    if (begin < 0) return NOTHING;
    const last = Math.max(begin, this.#to - 1 - at);
    const end = last < chunk.length ? chunk.indexOf(LINE_FEED, last) : -1;
    if (end < 0) return chunk.subarray(begin);
    this.#isThrough = true;
    return chunk.subarray(begin, end + 1);
  }

  /** Where the first line of the range begins in the chunk; -1 when it does not. */
  #begin(chunk: Uint8Array, at: number): number {
    const begin = chunk.indexOf(LINE_FEED) + 1;
    this.#isThrough = at + (begin === 0 ? chunk.length : begin) >= this.#to;
    this.#hasBegun = begin > 0 && !this.#isThrough;
    return this.#hasBegun ? begin : -1;
  }
}
