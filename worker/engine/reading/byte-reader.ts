import { InvariantError } from '../../../shared/errors/error.ts';
import type { InputEvent } from '../../../shared/events/event.ts';
import { evtReader } from '../../../shared/events/evt-reader.ts';
import { jsonlReader } from '../../../shared/events/jsonl-reader.ts';
import type { MovableReader, ReaderPosition, ReadResult } from '../../../shared/events/reading/read-result.ts';
import type { EventSchemas } from '../../../shared/events/schema.ts';
import { loadGenerated } from '../compile/load.ts';
import { verifyGenerated } from '../compile/verify.ts';
import type { EventEntries } from '../fusion/event-entry.ts';
import { hasFastPath } from './fast-path.ts';
import { Layouts } from './layouts.ts';
import { createReadingState, marks, times } from './marks.ts';
import { type LineFormatName, printReader } from './print-reader.ts';
import { type DecodeText, TextTable } from './text-table.ts';
import { readingLibrary, readingParameters, readingVocabulary } from './vocabulary.ts';

export interface ByteReaderOptions {
  readonly format: LineFormatName;
  /** Those of the program that the entries belong to. */
  readonly schemas: EventSchemas;
  /** Takes what did not take the fast path, in order with what did. */
  readonly slow: (result: ReadResult) => void;
  /** How text is made of ASCII bytes; a host may know a faster way than the default. */
  readonly decode?: DecodeText;
  /** Where to begin. @default before the first line, at time 0 */
  readonly from?: ReaderPosition;
}

const LINE_FEED = 10;
/** Lines are read in pieces of at most so many bytes; a longer line takes the slow path, which knows the limits of an event. */
const PIECE_BYTES_MAX = 262_144;
/** Of a line that is not complete; a longer one takes the slow path. */
const REST_BYTES_MAX = 65_536;
/** Bytes behind a piece that generated code may look at: it takes the ten of a date for granted. */
const PADDING_BYTES = 16;
/** Where most lines take the slow path, whole pieces do, and the fast path is tried again in one of so many. */
const LONG_PIECES = 64;
/** Of these, one has at most so many bytes: its events are all there at once. */
const LONG_PIECE_BYTES_MAX = 65_536;
const SHORT_SHARE_MIN = 0.25;
const NO_BYTES = new Uint8Array();

type ReadLines = (bytes: Uint8Array, words: DataView, from: number, to: number) => void;

const asciiDecoder = new TextDecoder();

/**
 * Reads an event file into a running engine. Lines that have the expected layout (the fields of a declared type in an order that is
 * usual in the file, in the spacing that programs write, plain values) enter it as scalars; all others are read by the
 * general reader of the format and handed to `slow`. Both ways share offsets, times and line numbers, so which one a line
 * takes changes no result.
 *
 * Chunks may be cut anywhere, and are not kept; it helps when 16 more bytes of the same memory stand behind a chunk. Memory
 * is bounded by 64 KiB of an incomplete line, the line that the general reader holds, and the table of texts.
 */
export function createByteReader(entries: EventEntries, options: ByteReaderOptions): ByteReader {
  return new ByteReader(entries, options);
}

export class ByteReader {
  readonly #entries: EventEntries;
  readonly #general: MovableReader;
  readonly #slow: (result: ReadResult) => void;
  readonly #state = createReadingState();
  readonly #format: LineFormatName;
  readonly #texts: TextTable;
  readonly #layouts: Layouts;
  #readLines: ReadLines;
  /** A layout became known that the reader does not expect yet. */
  #hasNewLayout = false;
  readonly #source = (): InputEvent => this.#wholeEvent();
  readonly #rest = new Uint8Array(REST_BYTES_MAX + PADDING_BYTES);
  readonly #restWords = new DataView(this.#rest.buffer);
  #restBytes = 0;
  /** The general reader holds the beginning of a long line. */
  #isInLongLine = false;
  /** Pieces still to come that take the slow path as a whole. */
  #longPieces = 0;
  #bytes: Uint8Array = NO_BYTES;
  #words: DataView = new DataView(NO_BYTES.buffer);
  /** Without those that `marks.entered` counts. */
  #lines = 0;
  #entered = 0;

  constructor(entries: EventEntries, { format, schemas, slow, decode, from }: ByteReaderOptions) {
    this.#entries = entries;
    this.#general = format === 'evt' ? evtReader({ schemas }) : jsonlReader({ schemas });
    this.#slow = slow;
    this.#lines = from?.lines ?? 0;
    this.#state.times[times.current] = from?.time ?? 0;
    this.#format = format;
    this.#texts = new TextTable(decode ?? ((bytes, start, end) => asciiDecoder.decode(bytes.subarray(start, end))));
    this.#layouts = new Layouts(entries.entries.filter(hasFastPath), entries.unread);
    this.#readLines = this.#load();
  }

  /** Events that took the fast path. */
  get entered(): number {
    return this.#entered;
  }

  /** Behind the last whole line. */
  get position(): ReaderPosition {
    return { lines: this.#lines, time: this.#state.times[times.current] as number };
  }

  /** Goes on elsewhere: between two lines, not while a part of one has been read. */
  set position({ lines, time }: ReaderPosition) {
    this.#lines = lines;
    this.#state.times[times.current] = time;
  }

  /** Takes the lines that this chunk completes. */
  read(chunk: Uint8Array): void {
    let start = this.#isInLongLine || this.#restBytes > 0 ? this.#completeLine(chunk) : 0;
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    while (start < end) start = this.#readPiece(chunk, start, end);
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Takes a last line without a line end. Afterwards nothing may be read but from another position. */
  end(): void {
    if (!this.#isInLongLine) this.#beginLongLine();
    this.#giveAll(this.#general.end());
    this.#isInLongLine = false;
    this.#takeBack();
  }

  #load(): ReadLines {
    const surroundings = { state: this.#state, texts: this.#texts, slow: (at: number) => this.#longWay(at) };
    const { text, constants } = printReader(this.#layouts.all, this.#format, surroundings);
    verifyGenerated(text, readingVocabulary);
    return loadGenerated(text, readingParameters, 'reader')(constants, ...Object.values(readingLibrary)) as ReadLines;
  }

  /** Brings the line that earlier chunks began to its end. Returns the position behind it. */
  #completeLine(chunk: Uint8Array): number {
    const end = chunk.indexOf(LINE_FEED) + 1;
    const piece = end === 0 ? chunk : chunk.subarray(0, end);
    this.#keep(piece);
    if (end === 0) return chunk.length;
    if (this.#isInLongLine) {
      this.#isInLongLine = false;
      this.#takeBack();
      return end;
    }
    const length = this.#restBytes;
    this.#restBytes = 0;
    this.#readWholeLines(this.#rest, this.#restWords, 0, length);
    return end;
  }

  /** Keeps a part of a line. */
  #keep(piece: Uint8Array): void {
    if (!this.#isInLongLine && this.#restBytes + piece.length > REST_BYTES_MAX) this.#beginLongLine();
    if (this.#isInLongLine) {
      this.#giveAll(this.#general.write(piece));
      return;
    }
    this.#rest.set(piece, this.#restBytes);
    this.#restBytes += piece.length;
  }

  #beginLongLine(): void {
    this.#isInLongLine = true;
    this.#general.position = this.position;
    this.#giveAll(this.#general.write(this.#rest.subarray(0, this.#restBytes)));
    this.#restBytes = 0;
  }

  /** Reads whole lines from `start` on, at most to `end`, and returns the position behind them. */
  #readPiece(chunk: Uint8Array, start: number, end: number): number {
    const isLong = this.#longPieces > 0 && !this.#hasNewLayout;
    const limit = Math.min(end, start + (isLong ? LONG_PIECE_BYTES_MAX : PIECE_BYTES_MAX));
    const last = chunk.lastIndexOf(LINE_FEED, limit - 1) + 1;
    if (last <= start) {
      const lineEnd = chunk.indexOf(LINE_FEED, limit) + 1;
      this.#readGenerally(chunk.subarray(start, lineEnd));
      return lineEnd;
    }
    if (isLong) {
      this.#longPieces--;
      this.#readGenerally(chunk.subarray(start, last));
    } else this.#readShortly(chunk, start, last);
    return last;
  }

  /** Lines at the very end of the memory that holds the chunk are moved to where something may stand behind them. */
  #readShortly(chunk: Uint8Array, start: number, end: number): void {
    const bytesBehind = chunk.buffer.byteLength - chunk.byteOffset - end;
    if (bytesBehind >= PADDING_BYTES) {
      this.#readInPlace(chunk, start, end);
      return;
    }
    const safeEnd = end - PADDING_BYTES;
    const last = safeEnd <= start ? start : Math.max(start, chunk.lastIndexOf(LINE_FEED, safeEnd - 1) + 1);
    if (last > start) this.#readInPlace(chunk, start, last);
    const moved = new Uint8Array(end - last + PADDING_BYTES);
    moved.set(chunk.subarray(last, end));
    this.#readWholeLines(moved, new DataView(moved.buffer), 0, end - last);
  }

  #readInPlace(chunk: Uint8Array, start: number, end: number): void {
    const { buffer, byteOffset } = chunk;
    if (this.#bytes.buffer !== buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#words = new DataView(buffer);
    }
    this.#readWholeLines(this.#bytes, this.#words, byteOffset + start, byteOffset + end);
  }

  #readWholeLines(bytes: Uint8Array, words: DataView, from: number, to: number): void {
    this.#bytes = bytes;
    this.#words = words;
    if (this.#hasNewLayout) this.#learn();
    const { lines } = this.position;
    const entered = this.#entered;
    this.#entries.source = this.#source;
    this.#readLines(bytes, words, from, to);
    this.#countEntered();
    const isMostlyShort = this.#entered - entered >= (this.#lines - lines) * SHORT_SHARE_MIN;
    this.#longPieces = !isMostlyShort && to - from > REST_BYTES_MAX ? LONG_PIECES : 0;
  }

  #learn(): void {
    this.#hasNewLayout = false;
    this.#readLines = this.#load();
  }

  /** Adds the lines that took the fast path since the last one that did not. */
  #countEntered(): void {
    const entered = this.#state.marks[marks.entered] as number;
    this.#state.marks[marks.entered] = 0;
    this.#lines += entered;
    this.#entered += entered;
  }

  /** Called by generated code, for a line that does not have the expected layout. */
  #longWay(at: number): number {
    this.#countEntered();
    const end = this.#bytes.indexOf(LINE_FEED, at) + 1;
    const { source } = this.#entries;
    this.#readGenerally(this.#bytes.subarray(at, end));
    this.#entries.source = source;
    return end;
  }

  /** Whole lines. */
  #readGenerally(lines: Uint8Array): void {
    this.#general.position = this.position;
    this.#giveAll(this.#general.write(lines));
    this.#takeBack();
  }

  #giveAll(results: readonly ReadResult[]): void {
    for (const result of results) {
      this.#slow(result);
      if (result.kind === 'event' && this.#layouts.meet(result.event)) this.#hasNewLayout = true;
    }
  }

  /** Goes on where the general reader is. */
  #takeBack(): void {
    const { lines, time } = this.#general.position;
    this.#lines = lines;
    this.#state.times[times.current] = time;
  }

  /** The event of the line that is being entered, as the general reader reads it. */
  #wholeEvent(): InputEvent {
    const start = this.#state.marks[marks.lineStart] as number;
    this.#general.position = this.position;
    const [result] = this.#general.write(this.#bytes.subarray(start, this.#bytes.indexOf(LINE_FEED, start) + 1));
    if (result?.kind !== 'event') throw new InvariantError('a line that was entered holds no event');
    return result.event;
  }
}
