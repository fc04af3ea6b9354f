import { createHash, type Hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import type { ReaderPosition, ReadResult } from '../../shared/events/reading/read-result.ts';
import type { EventSchemas } from '../../shared/events/schema.ts';
import { EventBytes } from './event-bytes.ts';
import { type EventReading, openReading, type ShortWay } from './event-reading.ts';
import { LineRange } from './line-range.ts';

const LINE_FEED = 0x0a;
const NOTHING = new Uint8Array();

/** The end of a line of an event file, and what a reader must know to go on behind it. */
export interface EventPosition {
  /** Bytes of the file up to there, and their digest: a file that begins with the same bytes is the same file, or has grown. */
  readonly bytes: number;
  readonly digest: string;
  /** 1-based. */
  readonly line: number;
  /** The offset, or the time, that a line without one takes over. */
  readonly time: number;
  readonly format: 'evt' | 'jsonl';
}

export interface EventLinesOptions {
  /** Declared types: the names of the values in `Type(v, v)`, and which field says an event's time. */
  readonly schemas?: EventSchemas;
  readonly preload: boolean;
  /** Keeps a digest of what was read, so that `position` can be asked for. */
  readonly canResume: boolean;
  /** Events that nobody needs to see go this way, and are not among the results. */
  readonly short?: ShortWay | undefined;
  /** `place` and `moveTo` can be used. The file must be one that can be read twice. */
  readonly canMove?: boolean;
}

/** Between two lines: a byte of the file, and what a reader must know to go on there. */
export interface LinePlace extends ReaderPosition {
  readonly bytes: number;
}

export interface EventPiece {
  readonly results: readonly ReadResult[];
  /** Behind the piece; only when it is a whole line, of a file opened with `canResume`. */
  readonly position: EventPosition | undefined;
}

/** What an event file holds, in pieces of some hundred lines. Must be closed. */
export class EventLines {
  readonly #reading: EventReading;
  readonly #bytes: EventBytes;
  readonly #digest: Hash | undefined;
  readonly #format: 'evt' | 'jsonl';
  #rest: Uint8Array = NOTHING;
  #restAt: number;
  #range: LineRange | undefined;
  #endsLine = false;
  #hasEnded = false;

  private constructor({ reading, bytes, digest, format, from }: EventLinesParts) {
    this.#reading = reading;
    this.#bytes = bytes;
    this.#digest = digest;
    this.#format = format;
    this.#restAt = from;
  }

  /** From the beginning. @throws CepError `file_not_found` or `io_error` */
  static open(path: string, options: EventLinesOptions): EventLines {
    const bytes = new EventBytes(path, options);
    const digest = options.canResume ? createHash('sha256') : undefined;
    const isFormatNeeded = options.canResume || options.canMove || options.short;
    const format = isFormatNeeded && isReadTwice(path) ? formatOf(path) : undefined;
    return new EventLines({ reading: openReading(format ?? extname(path), options), bytes, digest, format: format ?? 'evt', from: 0 });
  }

  /** From behind a position; undefined when the file does not begin with the bytes that were read before it. */
  static resume(path: string, position: EventPosition, options: EventLinesOptions): EventLines | undefined {
    const { bytes: from, line: lines, time, format } = position;
    const digest = digestOfStart(path, from);
    if (digest?.copy().digest('hex') !== position.digest) return undefined;
    const bytes = new EventBytes(path, { ...options, position: from });
    const reading = openReading(format, { ...options, from: { lines, time } });
    return new EventLines({ reading, bytes, digest, format, from });
  }

  /** Bytes of the file, when it is one, and how many of them have been read. */
  get progress(): { readonly size: number | undefined; readonly read: number } {
    return { size: this.#bytes.size, read: this.#restAt };
  }

  /** Events that went the short way. */
  get entered(): number {
    return this.#reading.entered;
  }

  /** By which the lines are read; `evt` for a file that was opened for nothing that needs to know. */
  get format(): 'evt' | 'jsonl' {
    return this.#format;
  }

  /** Behind the last whole line; undefined for a reader that does not know. */
  get position(): ReaderPosition | undefined {
    return this.#reading.position;
  }

  /** Behind the last piece that was read, if it ended with a line: undefined behind any other. */
  get place(): LinePlace | undefined {
    const position = this.#endsLine ? this.#reading.position : undefined;
    return position && { bytes: this.#restAt, ...position };
  }

  /**
   * Goes on with the lines that begin at bytes from `from.bytes` on and before `to`, the first of which has these lines and
   * this time before it. Between two lines only; then `next` is asked without `stopAtEvent`.
   */
  moveTo(from: LinePlace, to: number): void {
    this.#range = new LineRange(from.bytes, to);
    this.#restAt = this.#range.start;
    this.#rest = NOTHING;
    this.#hasEnded = false;
    this.#bytes.moveTo(this.#restAt);
    this.#reading.position = { lines: from.lines, time: from.time };
  }

  /** The next piece; undefined at the end. With `stopAtEvent` it is one line, or what is left of one. */
  next({ stopAtEvent }: { readonly stopAtEvent: boolean }): EventPiece | undefined {
    if (this.#range) return this.#nextOf(this.#range);
    const piece = this.#rest.length > 0 ? this.#rest : this.#bytes.read();
    if (!piece) return this.#end();
    const end = stopAtEvent ? piece.indexOf(LINE_FEED) + 1 : 0;
    this.#rest = end === 0 ? NOTHING : piece.subarray(end);
    const results = this.#write(end === 0 ? piece : piece.subarray(0, end));
    this.#endsLine = end > 0;
    return { results, position: end === 0 ? undefined : this.#position() };
  }

  close(): void {
    this.#bytes.close();
  }

  #nextOf(range: LineRange): EventPiece | undefined {
    if (range.isThrough) return undefined;
    const chunk = this.#bytes.read(range.wanted(this.#restAt));
    if (!chunk) return this.#end();
    const within = range.cut(chunk, this.#restAt);
    this.#restAt += chunk.length;
    return { results: this.#reading.write(within), position: undefined };
  }

  #end(): EventPiece | undefined {
    if (this.#hasEnded) return undefined;
    this.#hasEnded = true;
    return { results: this.#reading.end(), position: undefined };
  }

  #write(piece: Uint8Array): readonly ReadResult[] {
    this.#digest?.update(piece);
    this.#restAt += piece.length;
    return this.#reading.write(piece);
  }

  /** Called between two lines. */
  #position(): EventPosition | undefined {
    const at: ReaderPosition | undefined = this.#reading.position;
    if (!at || !this.#digest) return undefined;
    const digest = this.#digest.copy().digest('hex');
    return { bytes: this.#restAt, digest, line: at.lines, time: at.time, format: this.#format };
  }
}

interface EventLinesParts {
  readonly reading: EventReading;
  readonly bytes: EventBytes;
  readonly digest: Hash | undefined;
  readonly format: EventPosition['format'];
  readonly from: number;
}

/** How many events a file holds; undefined when it can be read only once. */
export function countEvents(path: string, options: Pick<EventLinesOptions, 'schemas'>): number | undefined {
  if (!isReadTwice(path)) return undefined;
  const lines = EventLines.open(path, { ...options, preload: false, canResume: false });
  try {
    let count = 0;
    for (;;) {
      const piece = lines.next({ stopAtEvent: false });
      if (!piece) return count;
      count += piece.results.filter(({ kind }) => kind === 'event').length;
    }
  } finally {
    lines.close();
  }
}

/** Whether a second reading gives the same: false for a pipe. What does not exist is left to whoever opens it. */
export function isReadTwice(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() || stat.isDirectory();
}

/** By the extension; for one that says nothing, by the first character that is no blank. */
function formatOf(path: string): 'evt' | 'jsonl' {
  const extension = extname(path).toLowerCase();
  if (extension === '.evt') return 'evt';
  if (extension === '.jsonl' || extension === '.ndjson') return 'jsonl';
  const bytes = new EventBytes(path, { preload: false });
  try {
    const start = bytes.read() ?? new Uint8Array();
    return /^\uFEFF?\s*\{/.test(new TextDecoder('utf-8', { ignoreBOM: true }).decode(start)) ? 'jsonl' : 'evt';
  } finally {
    bytes.close();
  }
}

/** Undefined when the file is shorter. */
function digestOfStart(path: string, length: number): Hash | undefined {
  const bytes = new EventBytes(path, { preload: false });
  try {
    if (bytes.size === undefined || bytes.size < length) return undefined;
    const hash = createHash('sha256');
    let left = length;
    for (let chunk = bytes.read(); chunk && left > 0; chunk = bytes.read()) {
      hash.update(chunk.subarray(0, left));
      left -= Math.min(left, chunk.length);
    }
    return hash;
  } finally {
    bytes.close();
  }
}
