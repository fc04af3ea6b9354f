import { CepError } from '../../shared/errors/error.ts';
import { CsvEvents, csvTypeColumn } from '../../shared/events/csv-events.ts';
import { csvDelimiter, csvRecordEnd, csvStart, csvValues } from '../../shared/events/reading/csv-records.ts';
import { unreadable } from '../../shared/events/reading/line-excerpt.ts';
import type { UnreadableLine } from '../../shared/events/reading/read-result.ts';
import { limits } from '../../shared/limits.ts';
import { type EventSourceOptions, sourceName } from './event-source.ts';

export interface CsvLinesOptions extends Pick<EventSourceOptions, 'schemas' | 'eventType'> {
  readonly path: string;
  /** Takes each record that is no event. */
  readonly problem: (line: UnreadableLine) => void;
}

const LINE_FEED = 0x0a;

/**
 * The records of CSV text with a header as lines of JSON, each on the line on which its record ends: whatever counts lines
 * behind this counts those of the file. Memory is bounded by a chunk and the longest record allowed.
 * @throws CepError `validation_error` where the header names no event, or a line never ends
 */
export async function* csvLines(chunks: AsyncIterable<Uint8Array>, options: CsvLinesOptions): AsyncGenerator<Uint8Array, void, undefined> {
  const conversion = new CsvConversion(options);
  for await (const chunk of chunks) yield conversion.write(chunk);
  yield conversion.end();
}

class CsvConversion {
  readonly #options: CsvLinesOptions;
  #delimiter: string | undefined;
  #events: CsvEvents | undefined;
  #rest: Buffer = Buffer.alloc(0);
  /** Line ends that are read, and written. */
  #lines = 0;

  constructor(options: CsvLinesOptions) {
    this.#options = options;
  }

  /** The lines of the records that this chunk completes. */
  write(chunk: Uint8Array): Buffer {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const lines = this.#taken(false);
    if (this.#rest.length > limits.eventBytesMax && !this.#rest.includes(LINE_FEED)) throw this.#endless();
    return lines;
  }

  end(): Buffer {
    return this.#taken(true);
  }

  #taken(isEnd: boolean): Buffer {
    const written: string[] = [];
    let start = this.#begin(isEnd);
    while (this.#delimiter !== undefined && start < this.#rest.length) {
      const found = csvRecordEnd(this.#rest, start, { delimiter: this.#delimiter, isEnd });
      if (found === undefined) break;
      const raw = this.#rest.toString('utf8', start, found.end);
      start = found.end;
      const lineEnds = raw.split('\n').length - 1;
      const line = this.#lines + Math.max(1, lineEnds);
      written.push('\n'.repeat(Math.max(0, lineEnds - 1)), this.#eventLine(raw, line, found.problem), '\n');
      this.#lines = line;
    }
    this.#rest = this.#rest.subarray(start);
    return Buffer.from(written.join(''));
  }

  /** Where the first record begins. The delimiter is known once the header is there. */
  #begin(isEnd: boolean): number {
    if (this.#delimiter !== undefined || !(isEnd || this.#rest.includes(LINE_FEED))) return 0;
    this.#delimiter = csvDelimiter(this.#rest.toString('utf8'));
    return csvStart(this.#rest);
  }

  /** Empty for the header, an empty line, and a record that is no event. */
  #eventLine(raw: string, line: number, problem: string | undefined): string {
    const text = raw.replace(/\r?\n$/, '');
    if (text === '') return '';
    const { path, schemas, eventType } = this.#options;
    const place = `${sourceName(path)}:${line}`;
    if (this.#events === undefined) {
      const wrong = problem ?? headerProblem(text);
      if (wrong !== undefined) throw new CepError('validation_error', `${place}: the header cannot be read: ${wrong}`);
      const columns = csvValues(raw, this.#delimiter ?? ',').map((name) => name.trim());
      requireHeader(columns, place, eventType);
      this.#events = new CsvEvents(columns, { schemas, eventType });
      return '';
    }
    const event = problem === undefined ? this.#events.line(csvValues(raw, this.#delimiter ?? ',')) : { problem };
    if ('line' in event && event.line !== undefined) return event.line;
    this.#options.problem(unreadable({ line, column: 1, text, message: event.problem }));
    return '';
  }

  #endless(): CepError {
    const text = `${sourceName(this.#options.path)}:${this.#lines + 1}: a line is longer than ${limits.eventBytesMax} bytes`;
    return new CepError('validation_error', text);
  }
}

function headerProblem(header: string): string | undefined {
  if (header.includes('\0')) return 'found UTF-16, expected UTF-8';
  return header.includes('\r') ? 'found lines that end with a carriage return alone, expected line feeds' : undefined;
}

/** @throws CepError `validation_error` when no type can be had, or a column has no name or that of another */
function requireHeader(columns: readonly string[], place: string, eventType: string | undefined): void {
  const twice = columns.find((name, index) => name === '' || columns.indexOf(name) !== index);
  if (twice !== undefined) throw headerError(place, twice === '' ? 'a column has no name' : `two columns are called '${twice}'`);
  if (eventType === undefined && csvTypeColumn(columns) < 0) {
    throw headerError(place, "no column says the type of an event: expected one called 'event_type'", 'or name it: --event-type NAME');
  }
}

function headerError(place: string, problem: string, hint?: string): CepError {
  return new CepError('validation_error', `${place}: ${problem}`, hint === undefined ? {} : { hint });
}
