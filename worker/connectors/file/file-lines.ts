import { type CsvEventLine, CsvEvents } from '../../../shared/events/csv-events.ts';
import type { InputEvent } from '../../../shared/events/event.ts';
import { evtReader } from '../../../shared/events/evt-reader.ts';
import { type CsvRecordEnd, csvDelimiter, csvRecordEnd, csvStart, csvValues } from '../../../shared/events/reading/csv-records.ts';
import type { MovableReader, ReadResult } from '../../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { jsonLine } from '../../../shared/events/writer.ts';
import type { SourceMessage } from '../connector.ts';
import { mayHaveFields, withoutFields } from './fields-member.ts';

/** How a file holds its events. */
export type FileFormat = 'evt' | 'jsonl' | 'csv';

/** What the reader of a file must know to go on in the middle of it, besides the bytes. JSON. */
export interface LinesState {
  /** `.evt`: what a line without an offset takes over, and whether lines have offsets at all. */
  readonly time?: number;
  readonly hasOffsets?: boolean;
  /** CSV: the names of the columns. */
  readonly columns?: readonly string[];
  /** Between them. Builds that knew only the comma did not save it. */
  readonly delimiter?: string;
}

/** Makes messages of the lines of a file. */
export interface FileLines {
  /** Where it stands, behind the last chunk. */
  readonly state: LinesState;
  /** How many of these bytes are whole records. */
  wholeLength(bytes: Buffer): number;
  /** `bytes`: whole records. */
  messages(bytes: Buffer): SourceMessage[];
}

export interface FileLinesOptions {
  readonly format: FileFormat;
  readonly timeField: string | undefined;
  /** Declared types: the names of the values in `Type(v, v)`, what the values of CSV are, and which field says an event's time. */
  readonly schemas?: EventSchemas | undefined;
  /** Type of the events of CSV that say none. */
  readonly otherType?: string | undefined;
}

const NEWLINE = 10;
const COMMA = ',';

/** By the end of its name: `.evt`, `.csv` and `.tsv`, `.jsonl` and others of its kind; undefined where that says nothing. `.gz` behind it does not count. */
export function formatOf(path: string): FileFormat | undefined {
  const [, extension] = /\.(evt|csv|tsv|jsonl|ndjson|json)(?:\.gz)?$/i.exec(path) ?? [];
  switch (extension?.toLowerCase()) {
    case undefined:
      return undefined;
    case 'evt':
      return 'evt';
    case 'csv':
    case 'tsv':
      return 'csv';
    default:
      return 'jsonl';
  }
}

/** What begins with a brace is JSON lines, anything else `.evt`. */
export function sniffed(bytes: Buffer): FileFormat {
  return /^\uFEFF?\s*\{/.test(bytes.toString('utf8', 0, 1_024)) ? 'jsonl' : 'evt';
}

export function fileLines(options: FileLinesOptions, state: LinesState): FileLines {
  switch (options.format) {
    case 'evt':
      return new EvtLines(options, state);
    case 'jsonl':
      return new JsonLines();
    case 'csv':
      return new CsvLines(options, state);
  }
}

/**
 * What the reader of a file must know to go on behind its last lines, without having read those in between. `first`: how the file begins.
 * `last`: its last lines, whole ones.
 */
export function stateBehind(options: FileLinesOptions, { first, last }: { readonly first: Buffer; readonly last: Buffer }): LinesState {
  const lines = fileLines(options, {});
  const shown = options.format === 'csv' ? first.subarray(0, lines.wholeLength(first)) : last;
  lines.messages(shown);
  return lines.state;
}

class JsonLines implements FileLines {
  readonly state = {};

  wholeLength(bytes: Buffer): number {
    return bytes.lastIndexOf(NEWLINE) + 1;
  }

  messages(bytes: Buffer): SourceMessage[] {
    const asTheyAre = !mayHaveFields(bytes);
    return linesOf(bytes).flatMap((line) => (isBlank(line) ? [] : [{ bytes: asTheyAre ? line : withoutFields(line) }]));
  }
}

class EvtLines implements FileLines {
  readonly #reader: MovableReader;
  readonly #schemas: EventSchemas;
  #hasOffsets: boolean;

  constructor({ timeField, schemas = new EventSchemas([]) }: FileLinesOptions, { time = 0, hasOffsets = false }: LinesState) {
    this.#reader = evtReader({ timeField, schemas });
    this.#schemas = schemas;
    this.#reader.position = { lines: 0, time };
    this.#hasOffsets = hasOffsets;
  }

  get state(): LinesState {
    return { time: this.#reader.position.time, hasOffsets: this.#hasOffsets };
  }

  wholeLength(bytes: Buffer): number {
    return bytes.lastIndexOf(NEWLINE) + 1;
  }

  messages(bytes: Buffer): SourceMessage[] {
    this.#reader.position = { lines: 0, time: this.#reader.position.time };
    this.#hasOffsets ||= /^[ \t]*(?:@|BATCH\b)/m.test(bytes.toString('latin1'));
    let lines: readonly Uint8Array[] | undefined;
    const lineAt = (at: number): Uint8Array | undefined => {
      lines ??= linesOf(bytes);
      return lines[at];
    };
    return this.#reader.write(bytes).map((result) => this.#message(result, lineAt));
  }

  #message(result: ReadResult, lineAt: (at: number) => Uint8Array | undefined): SourceMessage {
    if (result.kind === 'event') {
      const { event } = result;
      return { bytes: Buffer.from(jsonLine(event, event.timestamp ?? this.#offsetOf(event))) };
    }
    const { line, message } = result.kind === 'invalid' ? result : result.diagnostic;
    return { bytes: lineAt(line - 1) ?? new Uint8Array(), problem: message };
  }

  /** The time of an event by its place in the file, which counts where its fields say none. */
  #offsetOf({ type, fields, fallbackTime }: InputEvent): number | undefined {
    return this.#hasOffsets && this.#schemas.ownTime(type, fields) === undefined ? fallbackTime : undefined;
  }
}

class CsvLines implements FileLines {
  readonly #options: FileLinesOptions;
  #events: CsvEvents | undefined;
  #delimiter: string;

  constructor(options: FileLinesOptions, { columns, delimiter }: LinesState) {
    this.#options = options;
    this.#delimiter = delimiter ?? csvDelimiter(columns?.join(COMMA) ?? '');
    if (columns === undefined) return;
    // What was saved without a delimiter may have the whole of another's header for one column.
    const isMisread = delimiter === undefined && this.#delimiter !== COMMA;
    this.#begun(isMisread ? csvValues(columns.join(COMMA), this.#delimiter) : columns);
  }

  get state(): LinesState {
    if (this.#events === undefined) return {};
    return { columns: this.#events.columns, delimiter: this.#delimiter };
  }

  wholeLength(bytes: Buffer): number {
    let length = 0;
    for (const { end } of this.#recordEnds(bytes, false)) length = end;
    return length;
  }

  messages(bytes: Buffer): SourceMessage[] {
    const messages: SourceMessage[] = [];
    let start = this.#begin(bytes);
    for (const { end, problem } of this.#recordEnds(bytes, true)) {
      const raw = bytes.subarray(start, end);
      start = end;
      if (isBlank(raw)) continue;
      if (problem !== undefined) {
        // A header that cannot be read names no columns, so that no record has them.
        if (this.#events === undefined) this.#begun([]);
        messages.push({ bytes: raw, problem });
      } else {
        const values = csvValues(raw.toString('utf8'), this.#delimiter);
        if (this.#events === undefined) this.#begun(values);
        else messages.push(messageOf(this.#events.line(values), raw));
      }
    }
    return messages;
  }

  #begun(header: readonly string[]): void {
    const columns = header.map((name) => name.trim());
    const { schemas, otherType } = this.#options;
    this.#events = new CsvEvents(columns, { schemas, otherType });
  }

  /** Where the first record begins; before the header its delimiter is found, too. */
  #begin(bytes: Buffer): number {
    if (this.#events !== undefined) return 0;
    this.#delimiter = csvDelimiter(bytes.toString('utf8'));
    return csvStart(bytes);
  }

  *#recordEnds(bytes: Buffer, isEnd: boolean): Generator<CsvRecordEnd, void, undefined> {
    for (let start = this.#begin(bytes); start < bytes.length; ) {
      const found = csvRecordEnd(bytes, start, { delimiter: this.#delimiter, isEnd });
      if (found === undefined) return;
      yield found;
      start = found.end;
    }
  }
}

function messageOf(event: CsvEventLine, raw: Uint8Array): SourceMessage {
  return event.line === undefined ? { bytes: raw, problem: event.problem } : { bytes: Buffer.from(event.line) };
}

/** Without their ends. */
function linesOf(bytes: Buffer): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 32 || byte === 9 || byte === 13 || byte === NEWLINE);
}
