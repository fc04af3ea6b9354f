import { parse } from 'csv-parse/sync';
import { evtReader } from '../../../shared/events/evt-reader.ts';
import type { MovableReader, ReadResult } from '../../../shared/events/reading/read-result.ts';
import { jsonLine } from '../../../shared/events/writer.ts';
import type { SourceMessage } from '../connector.ts';

/** How a file holds its events. */
export type FileFormat = 'evt' | 'jsonl' | 'csv';

/** What the reader of a file must know to go on in the middle of it, besides the bytes. JSON. */
export interface LinesState {
  /** `.evt`: what a line without an offset takes over, and whether lines have offsets at all. */
  readonly time?: number;
  readonly hasOffsets?: boolean;
  /** CSV: the names of the columns. */
  readonly columns?: readonly string[];
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
  /** Columns of CSV whose values are texts, whatever they look like. */
  readonly textFields: ReadonlySet<string>;
}

const NEWLINE = 10;
const QUOTE = 34;

/** By the end of its name: `.evt`, `.csv`, `.jsonl` and others of its kind; undefined where that says nothing. `.gz` behind it does not count. */
export function formatOf(path: string): FileFormat | undefined {
  const [, extension] = /\.(evt|csv|jsonl|ndjson|json)(?:\.gz)?$/i.exec(path) ?? [];
  switch (extension?.toLowerCase()) {
    case undefined:
      return undefined;
    case 'evt':
    case 'csv':
      return extension.toLowerCase() as FileFormat;
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
    return linesOf(bytes).flatMap((line) => (isBlank(line) ? [] : [{ bytes: line }]));
  }
}

class EvtLines implements FileLines {
  readonly #reader: MovableReader;
  #hasOffsets: boolean;

  constructor({ timeField }: FileLinesOptions, { time = 0, hasOffsets = false }: LinesState) {
    this.#reader = evtReader({ timeField });
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
    const lines = linesOf(bytes);
    return this.#reader.write(bytes).map((result) => this.#message(result, lines));
  }

  #message(result: ReadResult, lines: readonly Uint8Array[]): SourceMessage {
    if (result.kind === 'event') {
      const { event } = result;
      const time = event.timestamp ?? (this.#hasOffsets ? event.fallbackTime : undefined);
      return { bytes: Buffer.from(jsonLine(event, time)) };
    }
    const { line, message } = result.kind === 'invalid' ? result : result.diagnostic;
    return { bytes: lines[line - 1] ?? new Uint8Array(), problem: message };
  }
}

class CsvLines implements FileLines {
  readonly #textFields: ReadonlySet<string>;
  #columns: readonly string[] | undefined;

  constructor({ textFields }: FileLinesOptions, { columns }: LinesState) {
    this.#textFields = textFields;
    this.#columns = columns;
  }

  get state(): LinesState {
    return this.#columns === undefined ? {} : { columns: this.#columns };
  }

  /** A line end within quotes ends no record. */
  wholeLength(bytes: Buffer): number {
    let [end, isQuoted] = [0, false];
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] === QUOTE) isQuoted = !isQuoted;
      else if (bytes[at] === NEWLINE && !isQuoted) end = at + 1;
    }
    return end;
  }

  messages(bytes: Buffer): SourceMessage[] {
    const records = this.#records(bytes);
    if (this.#columns === undefined) {
      const header = records.shift();
      if (header === undefined) return [];
      if ('problem' in header) return [header];
      this.#columns = header.values.map((name) => name.trim());
    }
    const columns = this.#columns;
    return records.map((record) => ('problem' in record ? record : this.#message(columns, record)));
  }

  #records(bytes: Buffer): (CsvRecord | NoRecord)[] {
    const records: (CsvRecord | NoRecord)[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = start + this.#recordLength(bytes.subarray(start));
      const raw = bytes.subarray(start, end);
      start = end;
      if (isBlank(raw)) continue;
      try {
        const [values = []] = parse(raw, { bom: true, relax_column_count: true }) as string[][];
        records.push({ values, raw });
      } catch (error) {
        records.push({ bytes: raw, problem: error instanceof Error ? error.message : String(error) });
      }
    }
    return records;
  }

  #recordLength(bytes: Buffer): number {
    let isQuoted = false;
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] === QUOTE) isQuoted = !isQuoted;
      else if (bytes[at] === NEWLINE && !isQuoted) return at + 1;
    }
    return bytes.length;
  }

  #message(columns: readonly string[], { values, raw }: CsvRecord): SourceMessage {
    if (values.length > columns.length) {
      return { bytes: raw, problem: `found ${values.length} values, and the header names ${columns.length} columns` };
    }
    const members = values.map((value, at) => `${JSON.stringify(columns[at])}:${this.#value(columns[at] ?? '', value)}`);
    return { bytes: Buffer.from(`{${members.join(',')}}`) };
  }

  /** A number, `true` or `false`, no value where nothing stands, else text. */
  #value(column: string, text: string): string {
    const bare = text.trim();
    if (this.#textFields.has(column)) return JSON.stringify(text);
    if (bare === '') return 'null';
    return JSON_VALUE.test(bare) ? bare : JSON.stringify(text);
  }
}

interface CsvRecord {
  readonly values: readonly string[];
  readonly raw: Uint8Array;
}

interface NoRecord extends SourceMessage {
  readonly problem: string;
}

const JSON_VALUE = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false)$/;

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
