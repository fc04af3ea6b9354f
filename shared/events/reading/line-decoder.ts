import { limits } from '../../limits.ts';
import { BYTE_ORDER_MARK, CARRIAGE_RETURN, LINE_FEED } from './characters.ts';
import { PendingLine } from './pending-line.ts';
import { codePoints, lossyText, wellFormedStart } from './utf8.ts';

/** Bytes decoded at once: strings of this size are cheap to make and short-lived. */
const BLOCK_BYTES = 262_144;
const LINE_BYTES_MAX = limits.eventBytesMax;

/** Receives the lines of a text in order. Line numbers are 1-based. */
export interface LineHandler {
  /** The line is `text` from `start` to `end`, without its line end. `text` may hold other lines too. */
  line(text: string, start: number, end: number, number: number): void;
  /** A line above the limit; `head` is its first MiB. */
  longLine(head: string, number: number): void;
  /** A line that is not UTF-8: what can be read of it, and the 1-based column of the first bad byte. */
  malformedLine(text: string, column: number, number: number): void;
}

/** Cuts bytes into lines (LF or CRLF) and decodes them. A byte order mark is left out. Memory is bounded by the line limit. */
export class LineDecoder {
  readonly #handler: LineHandler;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** Two bytes more than fit: with a carriage return a line of exactly the limit is told from a longer one. */
  readonly #pending = new PendingLine(LINE_BYTES_MAX + 2);
  #number = 0;

  constructor(handler: LineHandler) {
    this.#handler = handler;
  }

  /** Lines taken so far. */
  get lines(): number {
    return this.#number;
  }

  set lines(count: number) {
    this.#number = count;
  }

  write(chunk: Uint8Array): void {
    let start = 0;
    while (start < chunk.length) {
      const end = this.#pending.isEmpty ? endOfBlock(chunk, start) : chunk.indexOf(LINE_FEED, start) + 1;
      if (end === 0) {
        this.#pending.append(chunk.subarray(start));
        return;
      }
      this.#lines(chunk.subarray(start, end));
      start = end;
    }
  }

  end(): void {
    if (!this.#pending.isEmpty) this.#endPending();
  }

  /** Bytes that end with a line end: many lines, or the rest of the pending one. */
  #lines(bytes: Uint8Array): void {
    const isWhole = this.#pending.isEmpty && bytes.length <= LINE_BYTES_MAX;
    const text = isWhole ? this.#decode(bytes) : undefined;
    if (text === undefined) {
      this.#singleLines(bytes);
      return;
    }
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#line(text, start, end);
      start = end + 1;
    }
  }

  /** The careful way, also for blocks that are not UTF-8: each line on its own. */
  #singleLines(bytes: Uint8Array): void {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      this.#pending.append(bytes.subarray(start, end));
      this.#endPending();
      start = end + 1;
    }
  }

  #endPending(): void {
    const bytes = this.#pending.take();
    const text = lengthOf(bytes) > LINE_BYTES_MAX ? undefined : this.#decode(bytes);
    if (text !== undefined) this.#line(text, 0, text.length);
    else if (lengthOf(bytes) > LINE_BYTES_MAX) this.#handler.longLine(lossyText(bytes.subarray(0, LINE_BYTES_MAX)), ++this.#number);
    else this.#malformedLine(bytes.subarray(0, lengthOf(bytes)));
  }

  #line(text: string, start: number, end: number): void {
    const number = ++this.#number;
    const from = number === 1 && text.charCodeAt(start) === BYTE_ORDER_MARK ? start + 1 : start;
    const to = end > from && text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end;
    this.#handler.line(text, from, to, number);
  }

  #malformedLine(bytes: Uint8Array): void {
    const number = ++this.#number;
    const text = lossyText(bytes);
    const good = wellFormedStart(bytes);
    const mark = number === 1 && text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
    this.#handler.malformedLine(text.slice(mark), codePoints(good, 0, good.length) + 1 - mark, number);
  }

  #decode(bytes: Uint8Array): string | undefined {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return undefined; // Not UTF-8: the caller reports the line.
    }
  }
}

/** Behind the last line end of the block that begins at `start`, or behind the first if the line is longer; 0 when there is none. */
function endOfBlock(chunk: Uint8Array, start: number): number {
  const limit = Math.min(start + BLOCK_BYTES, chunk.length);
  const last = chunk.lastIndexOf(LINE_FEED, limit - 1);
  return last >= start ? last + 1 : chunk.indexOf(LINE_FEED, limit) + 1;
}

/** Of a line without its line feed: a carriage return at its end is part of the line end. */
function lengthOf(line: Uint8Array): number {
  return line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length;
}
