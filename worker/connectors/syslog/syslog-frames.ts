type Frame = Buffer | 'too_long';

interface FoundFrame {
  readonly message: Frame;
  /** Behind it. */
  readonly end: number;
}

const COUNT = /^([1-9]\d{0,8}) /;
const COUNT_CHARS_MAX = 11;

/** Messages on one connection: with their length before them (octet counting), or each ended by a line end (RFC 6587). */
export class SyslogFrames {
  readonly #bytesMax: number;
  #rest: Buffer = Buffer.alloc(0);
  /** Of a message that is too long, what is still to come; the end of its line with Infinity. */
  #skipping = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What is whole by now; 'too_long' for each message that is left out. Never keeps more than one message may have. */
  push(chunk: Buffer): Frame[] {
    const found: Frame[] = [];
    let bytes = this.#skipped(chunk);
    bytes = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const frame = this.#next(bytes);
      if (frame === undefined) break;
      if (frame.message === 'too_long' || frame.message.length > 0) found.push(frame.message);
      bytes = bytes.subarray(frame.end);
    }
    // A copy, so that a few bytes do not keep the chunk that they came in.
    this.#rest = Buffer.from(bytes);
    return found;
  }

  /** The sender has ended: the last line may lack its end. 'cut_off': what was to come of a message with its length does not. */
  end(): Buffer | 'cut_off' | undefined {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    if (rest.length === 0) return undefined;
    return COUNT.test(rest.toString('latin1', 0, COUNT_CHARS_MAX)) ? 'cut_off' : rest;
  }

  #skipped(chunk: Buffer): Buffer {
    if (this.#skipping === 0) return chunk;
    const end = this.#skipping === Number.POSITIVE_INFINITY ? chunk.indexOf(10) + 1 || chunk.length + 1 : this.#skipping;
    if (end > chunk.length) {
      if (this.#skipping !== Number.POSITIVE_INFINITY) this.#skipping -= chunk.length;
      return chunk.subarray(chunk.length);
    }
    this.#skipping = 0;
    return chunk.subarray(end);
  }

  #next(bytes: Buffer): FoundFrame | undefined {
    if (bytes.length === 0) return undefined;
    const count = COUNT.exec(bytes.toString('latin1', 0, COUNT_CHARS_MAX));
    return count === null ? this.#line(bytes) : this.#counted(bytes, { start: count[0].length, length: Number(count[1]) });
  }

  #counted(bytes: Buffer, { start, length }: { readonly start: number; readonly length: number }): FoundFrame | undefined {
    const end = start + length;
    if (length > this.#bytesMax) {
      this.#skipping = Math.max(0, end - bytes.length);
      return { message: 'too_long', end: Math.min(end, bytes.length) };
    }
    return bytes.length < end ? undefined : { message: bytes.subarray(start, end), end };
  }

  #line(bytes: Buffer): FoundFrame | undefined {
    const end = bytes.indexOf(10);
    if (end >= 0) return { message: end > this.#bytesMax ? 'too_long' : bytes.subarray(0, end), end: end + 1 };
    if (bytes.length <= this.#bytesMax) return undefined;
    this.#skipping = Number.POSITIVE_INFINITY;
    return { message: 'too_long', end: bytes.length };
  }
}
