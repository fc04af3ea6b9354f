import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { CepError } from '../../shared/errors/error.ts';
import type { EventSchemas } from '../../shared/events/schema.ts';

/** What stands for standard input where an event file is named. */
export const STANDARD_INPUT = '-';

/** What a command says of its event files besides their names. */
export interface EventSourceOptions {
  /** Declared types: how the values of a CSV file are to be read. */
  readonly schemas?: EventSchemas | undefined;
  /** Type of the events of a CSV file, none of whose columns says it. */
  readonly eventType?: string | undefined;
  /** How the events are written; without it the name of the file says it, or its first character. */
  readonly format?: EventFormat | undefined;
  readonly stdin?: Readable | undefined;
}

export const eventFormats = ['evt', 'jsonl', 'csv'] as const;
export type EventFormat = (typeof eventFormats)[number];

const FORMATS: Readonly<Record<string, EventFormat>> = {
  '.evt': 'evt',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'csv',
};
const GZIP_MARK = [0x1f, 0x8b] as const;

/** As messages call an event file. */
export function sourceName(path: string): string {
  return path === STANDARD_INPUT ? '<stdin>' : path;
}

/** What the name of a file says of its format, also under `.gz`; undefined when it says nothing. */
export function formatByName(path: string): EventFormat | undefined {
  const extension = extname(path).toLowerCase();
  return FORMATS[extension === '.gz' ? extname(path.slice(0, -extension.length)).toLowerCase() : extension];
}

/** Whether a second reading gives the same: false for a pipe. What does not exist is left to whoever opens it. */
export function isReadTwice(path: string): boolean {
  if (path === STANDARD_INPUT) return false;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() || stat.isDirectory();
}

/** Before the first of several files is read, which may take long. @throws CepError `file_not_found` */
export function requireFiles(paths: readonly string[]): void {
  const missing = paths.find((path) => path !== STANDARD_INPUT && statSync(path, { throwIfNoEntry: false }) === undefined);
  if (missing !== undefined) throw new CepError('file_not_found', `event file '${missing}' not found`);
}

/** Whether the bytes of the file are the lines that are read, so that reading can begin at any of them. */
export function isSeekable(path: string, format: EventFormat | undefined): boolean {
  return isReadTwice(path) && (formatByName(path) ?? format) !== 'csv' && !isGzipFile(path);
}

export function beginsAsGzip(bytes: Uint8Array): boolean {
  return bytes[0] === GZIP_MARK[0] && bytes[1] === GZIP_MARK[1];
}

/** By its first bytes, whatever its name is. What cannot be read is left to whoever opens it. */
function isGzipFile(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return false; // Opening it again says why.
  }
  try {
    const start = new Uint8Array(GZIP_MARK.length);
    return readSync(file, start, 0, start.length, 0) === start.length && beginsAsGzip(start);
  } finally {
    closeSync(file);
  }
}
