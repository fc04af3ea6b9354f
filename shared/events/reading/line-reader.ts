import { limits } from '../../limits.ts';
import type { Fields, InputEvent } from '../event.ts';
import { LineDecoder, type LineHandler } from './line-decoder.ts';
import { columnAt, unreadable } from './line-excerpt.ts';
import type { MovableReader, ReadEvent, ReaderPosition, ReadResult } from './read-result.ts';
import { printPath, UnreadableText, type ValueProblem } from './scan-problem.ts';

/** An event as a line states it. `timestamp` is the envelope's, in epoch milliseconds. */
export interface LineEvent {
  readonly type: string;
  readonly fields: Fields;
  readonly timestamp: number | undefined;
}

/** How the lines of one kind of event file are read. What is said of "the line" is of the one last given to `event`. */
export interface LineFormat {
  /** The event of a line, or undefined when it holds none. @throws UnreadableText */
  event(text: string, start: number, end: number): LineEvent | undefined;
  /** Why no schema could admit the event of the line. */
  readonly problem: ValueProblem | undefined;
  /** The type in the line, as far as it was read; empty when it has not been seen. */
  readonly typeSoFar: string;
  readonly wholeFloats: readonly string[];
  /** Members of the event that mean nothing. */
  readonly unknownMembers: readonly string[];
  /** What an event that nothing gives a time takes over from the lines before it. */
  time: number;
  /** The time, in epoch milliseconds, of an event that nothing else gives one. Called once for each event, in order. */
  fallbackTime(event: LineEvent): number;
  isComment(text: string): boolean;
}

/** Reads events of any line format. */
export class LineReader implements MovableReader, LineHandler {
  readonly #format: LineFormat;
  readonly #markFloats: boolean;
  readonly #lines = new LineDecoder(this);
  #results: ReadResult[] = [];

  constructor(format: LineFormat, markFloats: boolean) {
    this.#format = format;
    this.#markFloats = markFloats;
  }

  get position(): ReaderPosition {
    return { lines: this.#lines.lines, time: this.#format.time };
  }

  set position({ lines, time }: ReaderPosition) {
    this.#lines.lines = lines;
    this.#format.time = time;
  }

  write(chunk: Uint8Array): ReadResult[] {
    this.#lines.write(chunk);
    return this.#take();
  }

  end(): ReadResult[] {
    this.#lines.end();
    return this.#take();
  }

  line(text: string, start: number, end: number, line: number): void {
    try {
      const event = this.#format.event(text, start, end);
      if (event) this.#results.push(this.#result(event, line));
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error;
      const { message, hint } = error;
      this.#results.push(unreadable({ line, column: columnAt(text, start, error.at), text: text.slice(start, end), message, hint }));
    }
  }

  longLine(head: string, line: number): void {
    if (this.#format.isComment(head)) return;
    const message = `the line is longer than ${limits.eventBytesMax} bytes, the most that one event may have`;
    this.#readWhatCanBe(head);
    const type = this.#format.typeSoFar;
    if (type === '') this.#results.push(unreadable({ line, column: 1, text: head, message, hint: 'events are separated by line ends' }));
    else this.#results.push({ kind: 'invalid', line, type, field: '', message: `${message}: send less, or several events` });
  }

  malformedLine(text: string, column: number, line: number): void {
    if (this.#format.isComment(text)) return;
    this.#readWhatCanBe(text);
    const message = 'this byte is not UTF-8 text';
    const hint = (line === 1 ? hintOfFile(text) : undefined) ?? 'save the file as UTF-8';
    this.#results.push(unreadable({ line, column, text, message, hint }));
  }

  #take(): ReadResult[] {
    const results = this.#results;
    this.#results = [];
    return results;
  }

  #result(event: LineEvent, line: number): ReadResult {
    const { type, fields, timestamp } = event;
    const fallbackTime = this.#format.fallbackTime(event);
    const problem = this.#format.problem;
    if (problem) return { kind: 'invalid', line, type, field: printPath(problem.path), message: problem.message };
    const input: InputEvent = timestamp === undefined ? { type, fields, fallbackTime } : { type, fields, timestamp, fallbackTime };
    const { unknownMembers } = this.#format;
    const result: ReadEvent =
      unknownMembers.length === 0 ? { kind: 'event', event: input, line } : { kind: 'event', event: input, line, unknownMembers };
    return this.#markFloats ? this.#marked(result) : result;
  }

  #marked(result: ReadEvent): ReadEvent {
    const { wholeFloats } = this.#format;
    return wholeFloats.length === 0 ? result : { ...result, wholeFloats };
  }

  /** For a line that is reported anyway: its offset counts for the lines behind it, its type for the report. */
  #readWhatCanBe(text: string): void {
    try {
      this.#format.event(text, 0, text.length);
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error;
    }
  }
}

/** How files of other programs begin, with what is no UTF-8 replaced, and the command that unpacks them. */
const PACKED: readonly (readonly [begin: string, name: string, command: string])[] = [
  ['(\ufffd/\ufffd', 'zstd', 'zstd -dc'],
  ['\ufffd7zXZ', 'xz', 'xz -dc'],
  ['BZh', 'bzip2', 'bzip2 -dc'],
  ['PK\u0003\u0004', 'zip', 'unzip -p'],
];

/** What the first line of a file that is no text says of it. */
function hintOfFile(text: string): string | undefined {
  const packed = PACKED.find(([begin]) => text.startsWith(begin));
  if (packed !== undefined) return `the file is compressed with ${packed[1]}, and only gzip is unpacked here: unpack it with ${packed[2]}`;
  return text.includes('\0') ? 'the file looks like UTF-16: save the file as UTF-8' : undefined;
}
