import { daysFromCivil, daysInMonth, MS_PER_DAY, roundToMicrosecond, TIMESTAMP_MS_MAX } from './calendar.ts';
import { parseTimestamp } from './time-text.ts';
import { Timestamp, type Value } from './value.ts';

/** Units of epoch numbers. Below its limit a number is in that unit: each limit lies in the year 5138, and as the next unit in March 1973. */
const EPOCH_UNITS = [
  { below: 1e11, perMs: 1e-3 },
  { below: 1e14, perMs: 1 },
  { below: 1e17, perMs: 1e3 },
  { below: Infinity, perMs: 1e6 },
] as const;

/**
 * Epoch milliseconds of what a field or an envelope gives as a time: ISO 8601 text, or a number that is epoch seconds, milli-,
 * micro- or nanoseconds by its magnitude; fractions are kept to the microsecond. Undefined when it is no point in time.
 */
export function readEventTime(value: Value): number | undefined {
  if (value instanceof Timestamp) return value.ms;
  if (typeof value === 'string') return readPlainTime(value) ?? parseTimestamp(value);
  if (typeof value !== 'number') return undefined;
  const unit = EPOCH_UNITS.find(({ below }) => Math.abs(value) < below);
  const ms = unit === undefined ? Number.NaN : unit.perMs === 1e-3 ? value * 1000 : value / unit.perMs;
  return Math.abs(ms) <= TIMESTAMP_MS_MAX ? roundToMicrosecond(ms) : undefined;
}

/** Numbers from here on are micro- or nanoseconds, in whatever unit smaller ones are. */
const MICROSECONDS_MIN = 1e14;

/** The same of a number that is in milliseconds however small it is, as requests state it. */
export function readMilliseconds(value: number): number | undefined {
  return Math.abs(value) < MICROSECONDS_MIN ? roundToMicrosecond(value) : readEventTime(value);
}

/** Fields that hold an event's time wherever nothing else says it: the first that does counts. */
export const TIME_FIELDS = ['timestamp', '@timestamp'] as const;

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
