import { Names } from './names.ts';
import type { Words } from './words.ts';

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

/** Reads the lines of a scenario byte by byte: values, and the words that must stand before each. */
export class LineCursor {
  readonly names = new Names();
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;

  /** Whole lines, to be read before the next are given. */
  load(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
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

  /** A number behind these words. @throws Error when something else stands there */
  number(words: Words): number {
    const bytes = this.#bytes;
    const start = this.#behind(words);
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

  /** The number of a name behind these words, which end with its first quote. @throws Error when something else stands there */
  name(words: Words): number {
    const bytes = this.#bytes;
    const start = this.#behind(words);
    let at = start;
    let code = bytes[at];
    while (code !== QUOTE) {
      if (code === BACKSLASH || code === undefined) throw notALine();
      code = bytes[++at];
    }
    this.#at = at + 1;
    return this.names.idOf(bytes, start, at);
  }

  /** Goes on behind the line. @throws Error when it does not end here */
  endLine(): void {
    const bytes = this.#bytes;
    const at = this.#at;
    if (bytes[at] !== BLANK || bytes[at + 1] !== BRACE_CLOSE || bytes[at + 2] !== LINE_FEED) throw notALine();
    this.#at = at + 3;
  }

  #behind(words: Words): number {
    if (!words.standAt(this.#view, this.#at)) throw notALine();
    return this.#at + words.length;
  }
}

function notALine(): Error {
  return new Error('not a line of this scenario');
}
