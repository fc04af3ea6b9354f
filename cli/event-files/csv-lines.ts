import { parse } from 'csv-parse';
import { CepError } from '../../shared/errors/error.ts';
import { unreadable } from '../../shared/events/reading/line-excerpt.ts';
import type { UnreadableLine } from '../../shared/events/reading/read-result.ts';
import { limits } from '../../shared/limits.ts';
import { CsvEvents } from './csv-events.ts';
import { type EventSourceOptions, sourceName } from './event-source.ts';

export interface CsvLinesOptions extends Pick<EventSourceOptions, 'schemas' | 'eventType'> {
  readonly path: string;
  /** Takes each record that is no event. */
  readonly problem: (line: UnreadableLine) => void;
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
  readonly raw: string;
}

const LINE_FEED = 0x0a;
const DELIMITERS = [',', ';', '\t'] as const;

/**
 * The records of CSV text with a header as lines of JSON, each on the line on which its record ends: whatever counts lines
 * behind this counts those of the file. Memory is bounded by a chunk and the longest record allowed.
 * @throws CepError `validation_error` where the header names no event, or a record never ends
 */
export async function* csvLines(chunks: AsyncIterable<Uint8Array>, options: CsvLinesOptions): AsyncGenerator<Uint8Array, void, undefined> {
  let lines: CsvConversion | undefined;
  let start = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (lines === undefined) {
      start = Buffer.concat([start, chunk]);
      if (!start.includes(LINE_FEED) && start.length <= limits.eventBytesMax) continue;
      lines = new CsvConversion(start, options);
      yield lines.write(start);
    } else yield lines.write(chunk);
  }
  if (lines === undefined && start.length > 0) {
    lines = new CsvConversion(start, options);
    yield lines.write(start);
  }
  if (lines !== undefined) yield await lines.end();
}

class CsvConversion {
  readonly #options: CsvLinesOptions;
  readonly #parser;
  #events: CsvEvents | undefined;
  /** Lines that are written. */
  #lines = 0;
  #failure: Error | undefined;

  /** `start`: the header at least. */
  constructor(start: Buffer, options: CsvLinesOptions) {
    this.#options = options;
    this.#parser = parse({
      bom: true,
      delimiter: delimiterOf(start),
      info: true,
      raw: true,
      relax_column_count: true,
      max_record_size: limits.eventBytesMax,
      skip_records_with_error: true,
      on_skip: (error, raw) => {
        this.#skip(error, raw ?? '');
        return undefined;
      },
    });
    this.#parser.on('error', (error) => this.#fail(error));
  }

  /** The lines of the records that this chunk completes. */
  write(chunk: Uint8Array): Buffer {
    this.#parser.write(chunk);
    return this.#taken();
  }

  async end(): Promise<Buffer> {
    this.#parser.end();
    const ended = new Promise((resolve) => this.#parser.once('close', resolve));
    const last = this.#taken();
    await ended;
    if (this.#failure !== undefined) throw this.#failure;
    return last;
  }

  #taken(): Buffer {
    const text: string[] = [];
    for (let record: CsvRecord | null = this.#parser.read(); record !== null; record = this.#parser.read()) text.push(this.#lineOf(record));
    if (this.#failure !== undefined) throw this.#failure;
    return Buffer.from(text.join(''));
  }

  #lineOf({ record, info, raw }: CsvRecord): string {
    const before = '\n'.repeat(Math.max(0, info.lines - 1 - this.#lines));
    this.#lines = Math.max(this.#lines, info.lines);
    return `${before}${this.#eventLine(record, info.lines, raw)}\n`;
  }

  /** Empty for the header, an empty line, and a record that is no event. */
  #eventLine(record: readonly string[], line: number, raw: string): string {
    if (record.length === 1 && record[0] === '') return '';
    const { path, schemas, eventType } = this.#options;
    if (this.#events === undefined) {
      this.#events = new CsvEvents(record, { place: `${sourceName(path)}:${line}`, schemas, eventType });
      return '';
    }
    const event = this.#events.line(record);
    if (event.line !== undefined) return event.line;
    this.#report(line, event.problem, raw);
    return '';
  }

  #skip(error: { readonly code?: string; readonly message: string } | undefined, raw: string): void {
    const line = this.#parser.info.lines;
    if (error?.code === 'CSV_MAX_RECORD_SIZE') {
      const text = `${sourceName(this.#options.path)}:${this.#lines + 1}: a record is longer than ${limits.eventBytesMax} bytes`;
      this.#fail(new CepError('validation_error', text, { hint: 'a quote that is opened and never closed takes all lines behind it' }));
    } else this.#report(line, (error?.message ?? 'the record cannot be read').replace(/ at line \d+.*$/s, ''), raw);
  }

  #report(line: number, message: string, raw: string): void {
    const text = raw.replace(/\r?\n$/, '');
    this.#options.problem(unreadable({ line, column: 1, text, message }));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
  }
}

/** What the first line has most of. */
function delimiterOf(start: Buffer): string {
  const [header = ''] = start.toString('utf8').split('\n', 1);
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}
