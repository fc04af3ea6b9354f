const INITIAL_BYTES = 4096;

/** The bytes of a line whose end has not arrived. Keeps at most `bytesMax`; what comes behind them is dropped. */
export class PendingLine {
  readonly #bytesMax: number;
  #bytes = new Uint8Array(0);
  #length = 0;
  #begun = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return !this.#begun;
  }

  append(piece: Uint8Array): void {
    this.#begun = true;
    const kept = piece.subarray(0, this.#bytesMax - this.#length);
    this.#reserve(this.#length + kept.length);
    this.#bytes.set(kept, this.#length);
    this.#length += kept.length;
  }

  /** The bytes, valid until the next `append`. The line is empty again. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    this.#begun = false;
    return taken;
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.min(this.#bytesMax, Math.max(length, 2 * this.#bytes.length, INITIAL_BYTES)));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
