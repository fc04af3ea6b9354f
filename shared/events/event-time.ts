import { daysFromCivil, daysInMonth, MS_PER_DAY, roundToMicrosecond, TIMESTAMP_MS_MAX } from './calendar.ts';
import { parseTimestamp } from './time-text.ts';
import { Timestamp, type Value } from './value.ts';

/** Numbers below this are seconds: as seconds it lies in the year 5138, as milliseconds in March 1973. */
const SECONDS_MAX = 1e11;

/**
 * Epoch milliseconds of what a field or an envelope gives as a time: ISO 8601 text, or a number that is epoch seconds or
 * milliseconds by its magnitude; fractions are kept to the microsecond. Undefined when it is no point in time.
 */
export function readEventTime(value: Value): number | undefined {
  if (value instanceof Timestamp) return value.ms;
  if (typeof value === 'string') return readPlainTime(value) ?? parseTimestamp(value);
  if (typeof value !== 'number') return undefined;
  const ms = Math.abs(value) < SECONDS_MAX ? value * 1000 : value;
  return Math.abs(ms) <= TIMESTAMP_MS_MAX ? roundToMicrosecond(ms) : undefined;
}

/** Lengths of the two usual forms. */
export const PLAIN_TIME_LENGTHS = [20, 24] as const;

/** Only the two usual forms, `2026-01-31T10:00:00Z` and `2026-01-31T10:00:00.250Z`, much faster than the general way. */
export function readPlainTime(text: string): number | undefined {
  if (!hasPlainForm(text)) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const ms = text.length === 24 ? digits(text, 20, 23) : 0;
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  if (!isDate || !(hour <= 23 && minute <= 59 && second <= 59 && ms >= 0)) return undefined;
  const time = daysFromCivil(year, month, day) * MS_PER_DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
  return Number.isNaN(time) ? undefined : time;
}

/** Whether all marks but the digits stand where they do in the usual forms. */
function hasPlainForm(text: string): boolean {
  const isLong = text.length === 24;
  if (!isLong && text.length !== 20) return false;
  const dashes = text[4] === '-' && text[7] === '-';
  const colons = text[13] === ':' && text[16] === ':';
  return dashes && text[10] === 'T' && colons && text.endsWith('Z') && (!isLong || text[19] === '.');
}

/** NaN when one of the characters is no digit. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
