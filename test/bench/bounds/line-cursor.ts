import { Names } from './names.ts';

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const POINT = 0x2e;
const BLANK = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;
const COMMA = 0x2c;
const BRACE_CLOSE = 0x7d;
/** So many characters hold at most fifteen digits, which a double keeps. */
const EXACT_CHARACTERS_MAX = 16;
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_CHARACTERS_MAX }, (_, power) => 10 ** power);

/** Reads the lines of a scenario byte by byte. Knows where each value stands, so it skips the words between them. */
export class LineCursor {
  readonly names = new Names();
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Whole lines, to be read before the next are given. */
  load(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#at = 0;
  }

  hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  /** The `@<ms> ` at the beginning of a line. */
  time(): number {
    let time = 0;
    let code = this.#bytes[++this.#at] as number;
    while (code !== BLANK) {
      time = time * 10 + code - ZERO;
      code = this.#bytes[++this.#at] as number;
    }
    this.#at++;
    return time;
  }

  /** The first byte of the type's name. */
  type(): number {
    return this.#bytes[this.#at] as number;
  }

  /** A number behind `skip` bytes. */
  number(skip: number): number {
    const bytes = this.#bytes;
    const start = this.#at + skip;
    let at = bytes[start] === MINUS ? start + 1 : start;
    let digits = 0;
    let point = -1;
    let code = bytes[at] as number;
    while ((code >= ZERO && code <= NINE) || code === POINT) {
      if (code === POINT) point = at;
      else digits = digits * 10 + code - ZERO;
      code = bytes[++at] as number;
    }
    this.#at = at;
    if (at - start > EXACT_CHARACTERS_MAX || code === LETTER_E) return this.#longNumber(start);
    const size = point < 0 ? digits : digits / (POWERS_OF_TEN[at - point - 1] as number);
    return bytes[start] === MINUS ? -size : size;
  }

  #longNumber(start: number): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let code = bytes[at];
    while (code !== COMMA && code !== BLANK && code !== BRACE_CLOSE && code !== LINE_FEED) code = bytes[++at];
    this.#at = at;
    return Number(bytes.toString('latin1', start, at));
  }

  /** The number of a name between quotes, the first of which stands behind `skip` bytes. */
  name(skip: number): number {
    const bytes = this.#bytes;
    const start = this.#at + skip + 1;
    let at = start;
    let code = bytes[at];
    while (code !== QUOTE) {
      if (code === BACKSLASH || code === undefined) throw new Error('not a line of this scenario');
      code = bytes[++at];
    }
    this.#at = at + 1;
    return this.names.idOf(bytes, start, at);
  }

  /** Goes on behind the line, whatever is left of it. @throws Error when it does not end as expected */
  endLine(left: number): void {
    this.#at += left;
    if (this.#bytes[this.#at - 1] !== LINE_FEED) throw new Error('not a line of this scenario');
  }
}
