import { createHash, type Hash } from 'node:crypto';
import type { ReaderPosition, ReadResult } from '../../shared/events/reading/read-result.ts';
import type { EventSchemas } from '../../shared/events/schema.ts';
import { type EventBytes, FileBytes } from './event-bytes.ts';
import { type EventReading, type FastPath, openReading } from './event-reading.ts';
import { type EventSourceOptions, formatByName, isReadTwice, isSeekable, requireFiles, sourceName } from './event-source.ts';
import { LineRange } from './line-range.ts';
import { StreamBytes } from './stream-bytes.ts';

const LINE_FEED = 0x0a;
const NOTHING = new Uint8Array();

/** The end of a line of an event file, and what a reader must know to go on behind it. */
export interface EventPosition {
  /** Which of the files, from 0 on. */
  readonly file: number;
  /** Bytes of the file up to there, and their digest: a file that begins with the same bytes is the same file, or has grown. */
  readonly bytes: number;
  readonly digest: string;
  /** 1-based. */
  readonly line: number;
  /** The offset, or the time, that a line without one takes over. */
  readonly time: number;
  readonly format: 'evt' | 'jsonl';
}

/** What a file need know of those that are read before it. */
export interface FilesBefore {
  readonly files: number;
  /** What a line without an offset or a time takes over of them. */
  readonly time: number;
  /** Of all their bytes, of files that are opened with `canResume`. */
  readonly digest?: Hash | undefined;
}

export interface EventLinesOptions extends EventSourceOptions {
  /** Declared types: the names of the values in `Type(v, v)`, and which field says an event's time. */
  readonly schemas?: EventSchemas | undefined;
  /** Field that says when an event happened, before anything else does. */
  readonly timeField?: string | undefined;
  readonly preload: boolean;
  /** Keeps a digest of what was read, so that `position` can be asked for. */
  readonly canResume: boolean;
  /** Events that nobody needs to see go this way, and are not among the results. */
  readonly short?: FastPath | undefined;
  /** `place` and `moveTo` can be used. The file must be one that can be read twice. */
  readonly canMove?: boolean;
  /** The files before this one, whose lines stand before the first of this. @default none */
  readonly before?: FilesBefore | undefined;
  /** Says which whole numbers are written as floats. */
  readonly markFloats?: boolean;
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
  readonly #file: number;
  #rest: Uint8Array = NOTHING;
  #restAt: number;
  #range: LineRange | undefined;
  #endsLine = false;
  #hasEnded = false;

  private constructor({ reading, bytes, digest, format, from, file }: EventLinesParts) {
    this.#file = file;
    this.#reading = reading;
    this.#bytes = bytes;
    this.#digest = digest;
    this.#format = format;
    this.#restAt = from;
  }

  /** Whatever holds events, from the beginning. @throws CepError `file_not_found` or `io_error` */
  static async of(path: string, options: EventLinesOptions): Promise<EventLines> {
    if (isSeekable(path, options.format)) return EventLines.open(path, options);
    const known = formatByName(path) ?? options.format;
    const bytes = openBytes(path, options);
    try {
      await bytes.fill();
      const start = bytes.read() ?? NOTHING;
      const format = known === 'csv' ? 'jsonl' : (known ?? formatByStart(start));
      const reading = openReading(format, { ...options, from: startOf(options) });
      const lines = new EventLines({ reading, bytes, digest: undefined, format, from: 0, file: options.before?.files ?? 0 });
      lines.#rest = start;
      return lines;
    } catch (error) {
      bytes.close();
      throw error;
    }
  }

  /** A file that is read as it is, from the beginning. @throws CepError `file_not_found` or `io_error` */
  static open(path: string, options: EventLinesOptions): EventLines {
    const bytes = new FileBytes(path, options);
    const digest = options.canResume ? (options.before?.digest ?? createHash('sha256')) : undefined;
    const format = formatOf(path, options);
    const reading = openReading(format, { ...options, from: startOf(options) });
    return new EventLines({ reading, bytes, digest, format, from: 0, file: options.before?.files ?? 0 });
  }

  /** From behind a position in one of the files; undefined when they do not begin with the bytes that were read before it. */
  static resume(paths: readonly string[], position: EventPosition, options: EventLinesOptions): EventLines | undefined {
    const { file, bytes: from, line: lines, time, format } = position;
    const path = paths[file];
    const digest = path === undefined ? undefined : digestOfStart(paths.slice(0, file), path, from);
    if (path === undefined || digest?.copy().digest('hex') !== position.digest) return undefined;
    const bytes = new FileBytes(path, { ...options, position: from });
    const reading = openReading(format, { ...options, from: { lines, time } });
    return new EventLines({ reading, bytes, digest, format, from, file });
  }

  /** Bytes of the file, when it is one, and how many of them have been read. */
  get progress(): { readonly size: number | undefined; readonly read: number } {
    return { size: this.#bytes.size, read: this.#bytes.consumed ?? this.#restAt };
  }

  /** Events that took the fast path. */
  get entered(): number {
    return this.#reading.entered;
  }

  /** By which the lines are read. */
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

  /** Every piece that is left. */
  async *pieces(): AsyncGenerator<EventPiece, void, undefined> {
    for (;;) {
      await this.ready();
      const piece = this.next({ stopAtEvent: false });
      if (piece === undefined) return;
      yield piece;
    }
  }

  /** Resolves when the next piece may be asked for; a file that is read as it is has it always. */
  async ready(): Promise<void> {
    if (this.#rest.length === 0) await this.#bytes.fill();
  }

  /** What the file behind this one need know, when this is read to its end. */
  get before(): FilesBefore {
    return { files: this.#file + 1, time: this.#reading.position?.time ?? 0, digest: this.#digest };
  }

  /** The next piece; undefined at the end. With `stopAtEvent` it is one line, or what is left of one. `most`: bytes of it otherwise. */
  next({ stopAtEvent, most = Infinity }: { readonly stopAtEvent: boolean; readonly most?: number }): EventPiece | undefined {
    if (this.#range) return this.#nextOf(this.#range, most);
    const piece = this.#rest.length > 0 ? this.#rest : this.#bytes.read(this.#reading.bytesAtOnceMax);
    if (!piece) return this.#end();
    const line = stopAtEvent ? piece.indexOf(LINE_FEED) + 1 : 0;
    const end = line > 0 || stopAtEvent ? line : Math.min(most, piece.length);
    this.#rest = end === 0 ? NOTHING : piece.subarray(end);
    const results = this.#write(end === 0 ? piece : piece.subarray(0, end));
    this.#endsLine = line > 0;
    return { results, position: line === 0 ? undefined : this.#position() };
  }

  close(): void {
    this.#bytes.close();
  }

  #nextOf(range: LineRange, most: number): EventPiece | undefined {
    if (range.isThrough) return undefined;
    const chunk = this.#bytes.read(Math.min(range.wanted(this.#restAt), this.#reading.bytesAtOnceMax, most));
    if (!chunk) return this.#end();
    const within = range.cut(chunk, this.#restAt);
    this.#restAt += chunk.length;
    return { results: this.#reading.write(within), position: undefined };
  }

  #end(): EventPiece | undefined {
    if (this.#hasEnded) return undefined;
    this.#hasEnded = true;
    return { results: this.#withProblems(this.#reading.end()), position: undefined };
  }

  #withProblems(results: readonly ReadResult[]): readonly ReadResult[] {
    const problems = this.#bytes.problems?.() ?? [];
    return problems.length === 0 ? results : [...results, ...problems];
  }

  #write(piece: Uint8Array): readonly ReadResult[] {
    this.#digest?.update(piece);
    this.#restAt += piece.length;
    return this.#withProblems(this.#reading.write(piece));
  }

  /** Called between two lines. */
  #position(): EventPosition | undefined {
    const at: ReaderPosition | undefined = this.#reading.position;
    if (!at || !this.#digest) return undefined;
    const digest = this.#digest.copy().digest('hex');
    return { file: this.#file, bytes: this.#restAt, digest, line: at.lines, time: at.time, format: this.#format };
  }
}

interface EventLinesParts {
  readonly reading: EventReading;
  readonly bytes: EventBytes;
  readonly digest: Hash | undefined;
  readonly format: EventPosition['format'];
  readonly from: number;
  readonly file: number;
}

/** How many events files hold; undefined when one of them can be read only once. */
export async function countEvents(paths: readonly string[], options: ReadFilesOptions): Promise<number | undefined> {
  if (!paths.every(isReadTwice)) return undefined;
  let count = 0;
  for await (const { result } of readEventFiles(paths, options)) if (result.kind === 'event') count++;
  return count;
}

export type ReadFilesOptions = Omit<EventLinesOptions, 'preload' | 'canResume' | 'canMove' | 'short' | 'before'>;

/** What was read, and of which file, as messages call it. */
export interface FileResult {
  readonly file: string;
  readonly result: ReadResult;
}

/** What files hold, one behind the other, as one input: a line without a time takes over that of the line before, also of another file. */
export async function* readEventFiles(paths: readonly string[], options: ReadFilesOptions): AsyncGenerator<FileResult, void, undefined> {
  requireFiles(paths);
  let before: FilesBefore | undefined;
  for (const path of paths) {
    const lines = await EventLines.of(path, { ...options, preload: false, canResume: false, before });
    try {
      for await (const { results } of lines.pieces()) for (const result of results) yield { file: sourceName(path), result };
      before = lines.before;
    } finally {
      lines.close();
    }
  }
}

/** The first lines of a file that can be read twice, as they are read: CSV as JSON. */
export async function startOfFile(path: string, options: ReadFilesOptions): Promise<Uint8Array> {
  const bytes = openBytes(path, { ...options, preload: false });
  try {
    await bytes.fill();
    return bytes.read() ?? NOTHING;
  } finally {
    bytes.close();
  }
}

function openBytes(path: string, options: EventSourceOptions & { readonly preload: boolean }): EventBytes {
  if (isSeekable(path, options.format)) return new FileBytes(path, options);
  return new StreamBytes(path, { ...options, isCsv: (formatByName(path) ?? options.format) === 'csv' });
}

function startOf({ before }: EventLinesOptions): ReaderPosition | undefined {
  return before === undefined ? undefined : { lines: 0, time: before.time };
}

/** As the options or the name of the file say; where they say nothing, by the first character that is no blank. */
function formatOf(path: string, options: EventLinesOptions): 'evt' | 'jsonl' {
  const format = formatByName(path) ?? options.format;
  if (format === 'evt' || format === 'jsonl') return format;
  const bytes = new FileBytes(path, { preload: false });
  try {
    return formatByStart(bytes.read() ?? NOTHING);
  } finally {
    bytes.close();
  }
}

function formatByStart(start: Uint8Array): 'evt' | 'jsonl' {
  return /^\uFEFF?\s*\{/.test(new TextDecoder('utf-8', { ignoreBOM: true }).decode(start)) ? 'jsonl' : 'evt';
}

/** Of whole files and the start of another; undefined when one of them is no file, or shorter. */
function digestOfStart(whole: readonly string[], path: string, length: number): Hash | undefined {
  const hash = createHash('sha256');
  const parts = [...whole.map((file) => [file, Infinity] as const), [path, length] as const];
  return parts.every(([file, most]) => updateFrom(hash, file, most)) ? hash : undefined;
}

/** Takes the first bytes of a file, or all of them. False when it has fewer, or is no file. */
function updateFrom(hash: Hash, path: string, most: number): boolean {
  const bytes = new FileBytes(path, { preload: false });
  try {
    if (bytes.size === undefined || (Number.isFinite(most) && bytes.size < most)) return false;
    let left = most;
    for (let chunk = bytes.read(); chunk && left > 0; chunk = bytes.read()) {
      hash.update(chunk.subarray(0, Math.min(left, chunk.length)));
      left -= Math.min(left, chunk.length);
    }
    return true;
  } finally {
    bytes.close();
  }
}
