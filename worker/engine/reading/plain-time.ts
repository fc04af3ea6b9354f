import { daysFromCivil, daysInMonth, MS_PER_DAY } from '../../../shared/events/calendar.ts';
import { readEventTime } from '../../../shared/events/event-time.ts';

const QUOTE = 34;
const DASH = 45;
const POINT = 46;
const ZERO = 48;
const COLON = 58;
const LETTER_T = 84;
const LETTER_Z = 90;
/** What a pair that is no two digits counts for: no sum with it is a part of a date. */
const NO_DIGITS = -1e6;

/** Bytes of the two usual forms, `2026-01-31T10:00:00Z` and `2026-01-31T10:00:00.250Z`, with the quote that ends them. */
const SHORT_BYTES = 21;
const LONG_BYTES = 25;

/** Epoch milliseconds of a time at `at` in one of the two usual forms, ended by a quote; NaN for anything else. */
export function plainTime(bytes: Uint8Array, at: number): number {
  if (!hasMarks(bytes, at)) return Number.NaN;
  const year = pair(bytes, at) * 100 + pair(bytes, at + 2);
  const month = pair(bytes, at + 5);
  const day = pair(bytes, at + 8);
  const hour = pair(bytes, at + 11);
  const minute = pair(bytes, at + 14);
  const second = pair(bytes, at + 17);
  const ms = fraction(bytes, at);
  const isDate = year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  const isClock = hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59 && ms >= 0;
  if (!isDate || !isClock) return Number.NaN;
  return daysFromCivil(year, month, day) * MS_PER_DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
}

/** How many bytes `plainTime` has read, the quote included. */
export function plainTimeBytes(bytes: Uint8Array, at: number): number {
  return bytes[at + 19] === LETTER_Z ? SHORT_BYTES : LONG_BYTES;
}

/** Epoch milliseconds of a number that is epoch seconds or milliseconds by its magnitude; NaN when it is no point in time. */
export function numberTime(value: number): number {
  return readEventTime(value) ?? Number.NaN;
}

/** Milliseconds behind the point; negative when neither form ends here. */
function fraction(bytes: Uint8Array, at: number): number {
  if (bytes[at + 19] === LETTER_Z) return bytes[at + 20] === QUOTE ? 0 : NO_DIGITS;
  const hasMarks = bytes[at + 19] === POINT && bytes[at + 23] === LETTER_Z && bytes[at + 24] === QUOTE;
  const last = (bytes[at + 22] as number) - ZERO;
  return hasMarks && last >= 0 && last <= 9 ? pair(bytes, at + 20) * 10 + last : NO_DIGITS;
}

function hasMarks(bytes: Uint8Array, at: number): boolean {
  const dashes = bytes[at + 4] === DASH && bytes[at + 7] === DASH;
  return dashes && bytes[at + 10] === LETTER_T && bytes[at + 13] === COLON && bytes[at + 16] === COLON;
}

/** The number of two digits. */
function pair(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - ZERO;
  const ones = (bytes[at + 1] as number) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_DIGITS;
}
