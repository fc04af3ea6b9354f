const WORD_BYTES = 4;

/** The bytes that stand between two values in every line of a scenario, compared four at a time. */
export class Words {
  readonly length: number;
  readonly #words: Int32Array;

  /** ASCII, at least four characters. */
  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.#words = new Int32Array(Math.ceil(bytes.length / WORD_BYTES));
    for (let word = 0; word < this.#words.length; word++) this.#words[word] = bytes.readInt32LE(this.#offsetOf(word));
  }

  /** Whether they stand here. */
  standAt(view: DataView, at: number): boolean {
    const words = this.#words;
    const last = words.length - 1;
    for (let word = 0; word < last; word++) if (view.getInt32(at + word * WORD_BYTES, true) !== words[word]) return false;
    return view.getInt32(at + this.length - WORD_BYTES, true) === words[last];
  }

  /** The last word ends where the text does, over bytes of the one before it. */
  #offsetOf(word: number): number {
    return Math.min(word * WORD_BYTES, this.length - WORD_BYTES);
  }
}
