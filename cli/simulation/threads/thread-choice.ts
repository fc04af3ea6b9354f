/** The time alone is measured over at least so long, ms; also the first of it, in which code is being compiled. */
const ALONE_MS_MIN = 150;
const PART_MS = 25;
/** How long one thread is busy with a piece, ms: long beside what a piece costs, short beside what is kept of pieces. */
const PIECE_MS = 25;
const PIECE_BYTES_MIN = 64 * 1024;
const PIECE_BYTES_MAX = 1024 * 1024;
/** The gain is measured over parts of at least so long, ms. */
const TOGETHER_MS = 150;
const GAIN_MIN = 1.1;
/** What one thread could do alone is taken from its best pieces; how much of that stays with each piece that was slower. */
const KEPT = 0.98;
/** Parts in a row without a gain after which one thread goes on alone. */
const PARTS_WITHOUT_GAIN = 2;

/**
 * Whether more threads are worth their while: started only where much is left to do, kept only while the file goes faster than
 * it went on one thread. Speeds are in bytes per millisecond; times come from whoever asks, ms of any clock that only moves on.
 */
export class ThreadChoice {
  readonly #leftMsMin: number;
  #begun: number | undefined;
  #part = { at: 0, bytes: 0 };
  #speedAlone = 0;
  #partsWithoutGain = 0;

  /** `leftMsMin`: how long one thread would still be busy for others to be started. */
  constructor(leftMsMin: number) {
    this.#leftMsMin = leftMsMin;
  }

  /** One thread has come to this byte. */
  noteAlone(bytes: number, now: number): void {
    this.#begun ??= now;
    this.#speedAlone = Math.max(this.#speedAlone, this.#speedOfPart(bytes, now, PART_MS) ?? 0);
  }

  isWorthStarting(bytesLeft: number, now: number): boolean {
    if (this.#leftMsMin === 0) return true;
    const isMeasured = this.#begun !== undefined && now - this.#begun >= ALONE_MS_MIN && this.#speedAlone > 0;
    return isMeasured && bytesLeft / this.#speedAlone >= this.#leftMsMin;
  }

  /** How large pieces of the file should be. */
  get pieceBytes(): number {
    return Math.round(Math.min(PIECE_BYTES_MAX, Math.max(PIECE_BYTES_MIN, this.#speedAlone * PIECE_MS)));
  }

  /** Among others one thread took so long for a piece: alone it would be as fast at least. */
  noteOwnPiece(bytes: number, ms: number): void {
    if (bytes >= PIECE_BYTES_MIN && ms > 0) this.#speedAlone = Math.max(this.#speedAlone * KEPT, bytes / ms);
  }

  /** All threads work from now on. */
  begin(bytes: number, now: number): void {
    this.#part = { at: now, bytes };
  }

  /** They have come to this byte together. False when one thread would be as fast. */
  isWorthGoingOn(bytes: number, now: number): boolean {
    const speed = this.#speedOfPart(bytes, now, TOGETHER_MS);
    if (speed !== undefined) this.#partsWithoutGain = speed < GAIN_MIN * this.#speedAlone ? this.#partsWithoutGain + 1 : 0;
    return this.#leftMsMin === 0 || this.#partsWithoutGain < PARTS_WITHOUT_GAIN;
  }

  /** Of the part that ends here, when it is long enough; the next one begins. */
  #speedOfPart(bytes: number, now: number, ms: number): number | undefined {
    const part = this.#part;
    if (part.at === 0) this.#part = { at: now, bytes };
    if (part.at === 0 || now - part.at < ms) return undefined;
    this.#part = { at: now, bytes };
    return (bytes - part.bytes) / (now - part.at);
  }
}
