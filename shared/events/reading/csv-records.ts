import { limits } from '../../limits.ts';

/** Where a record of CSV ends, and why it is none. */
export interface CsvRecordEnd {
  /** Where the next one begins. */
  readonly end: number;
  readonly problem?: string;
}

export interface CsvRecordOptions {
  /** How `start` is separated into values: one byte. */
  readonly delimiter: string;
  /** Nothing comes behind the bytes: what has no line end is a record too. */
  readonly isEnd: boolean;
}

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const DELIMITERS = [',', ';', '\t'] as const;

const STRAY = 'found a quote within a value: expected one only where a value begins and ends, and two in its middle for one';
const NEVER_CLOSED = `found a value whose quote is not closed within ${limits.eventBytesMax} bytes, nor before the end`;
const TOO_LONG = `found a record of several lines with more than ${limits.eventBytesMax} bytes`;

/** What the header has most of. `start`: how the text begins. */
export function csvDelimiter(start: string): string {
  const [header = ''] = /[^\r\n]+/.exec(start) ?? [];
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Bytes before the header. */
export function csvStart(bytes: Buffer): number {
  return BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length)) ? BYTE_ORDER_MARK.length : 0;
}

/**
 * Where the record ends that begins at `start`; undefined while that is not among the bytes. A quote opens a value only at its beginning, and
 * a line end within quotes ends no record (RFC 4180). Of what is no record the first line goes, and the line behind it is read as one: one
 * stray quote takes no other line with it.
 */
export function csvRecordEnd(bytes: Buffer, start: number, { delimiter, isEnd }: CsvRecordOptions): CsvRecordEnd | undefined {
  const newline = bytes.indexOf(NEWLINE, start);
  if (newline < 0 && !isEnd) return undefined;
  const firstEnd = newline < 0 ? bytes.length : newline + 1;
  if (!bytes.subarray(start, firstEnd).includes(QUOTE)) return { end: firstEnd };
  const end = quotedEnd(bytes, start, delimiter.charCodeAt(0));
  if (end === 'stray') return { end: firstEnd, problem: STRAY };
  if (end === 'open' && isEnd) return { end: firstEnd, problem: NEVER_CLOSED };
  const isWhole = typeof end === 'number' && (isEnd || bytes[end - 1] === NEWLINE);
  const length = (isWhole ? end : bytes.length) - start;
  if (length > limits.eventBytesMax && length > firstEnd - start)
    return { end: firstEnd, problem: end === 'open' ? NEVER_CLOSED : TOO_LONG };
  return isWhole ? { end } : undefined;
}

/** Behind the line end of a record with quotes, or the end of the bytes. */
function quotedEnd(bytes: Buffer, start: number, delimiter: number): number | 'stray' | 'open' {
  for (let at = start; ; at++) {
    if (bytes[at] === QUOTE) {
      const close = closingQuote(bytes, at + 1);
      if (close < 0) return 'open';
      at = close + 1;
      if (bytes[at] === RETURN && (at + 1 === bytes.length || bytes[at + 1] === NEWLINE)) at++;
    } else {
      while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== NEWLINE && bytes[at] !== QUOTE) at++;
    }
    if (at >= bytes.length) return bytes.length;
    if (bytes[at] === NEWLINE) return at + 1;
    if (bytes[at] !== delimiter) return 'stray';
  }
}

/** `record`: the text of one that has an end and no problem. */
export function csvValues(record: string, delimiter: string): string[] {
  const text = record.replace(/\r?\n$/, '');
  if (!text.includes('"')) return text.split(delimiter);
  const values: string[] = [];
  for (let at = 0; at <= text.length; ) {
    const close = text[at] === '"' ? closingQuote(text, at + 1) : at;
    const next = text.indexOf(delimiter, close);
    const end = next < 0 ? text.length : next;
    values.push(close > at ? text.slice(at + 1, close).replaceAll('""', '"') : text.slice(at, end));
    at = end + 1;
  }
  return values;
}

/** Of a value that begins here; -1 where it is not there. */
function closingQuote(text: Buffer | string, start: number): number {
  let at = text.indexOf('"', start);
  while (at >= 0 && isQuote(text[at + 1])) at = text.indexOf('"', at + 2);
  return at;
}

function isQuote(unit: number | string | undefined): boolean {
  return unit === QUOTE || unit === '"';
}
