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

/** How many bytes `PlainTimes.read` has read, the quote included. */
export function plainTimeBytes(bytes: Uint8Array, at: number): number {
  return bytes[at + 19] === LETTER_Z ? SHORT_BYTES : LONG_BYTES;
}

/** Epoch milliseconds of a number that is epoch seconds or milliseconds by its magnitude; NaN when it is no point in time. */
export function numberTime(value: number): number {
  return readEventTime(value) ?? Number.NaN;
}

/** Reads times in the two usual forms. Most have the date of the one before, which is not computed again. */
export class PlainTimes {
  /** The ten bytes of the last date, and its midnight. */
  private start = 0;
  private middle = 0;
  private end = 0;
  private midnight = Number.NaN;

  /** Epoch milliseconds of the time at `at`, ended by a quote; NaN for anything else. Ten bytes must be there to be read. */
  read(bytes: Uint8Array, words: DataView, at: number): number {
    const [start, middle, end] = [words.getInt32(at, true), words.getInt32(at + 4, true), words.getInt16(at + 8, true)];
    if (start !== this.start || middle !== this.middle || end !== this.end) {
      this.midnight = midnightOf(bytes, at);
      this.start = start;
      this.middle = middle;
      this.end = end;
    }
    return this.midnight + clock(bytes, at);
  }
}

/** Epoch milliseconds at which a date begins; NaN when none stands at `at`. */
function midnightOf(bytes: Uint8Array, at: number): number {
  if (bytes[at + 4] !== DASH || bytes[at + 7] !== DASH) return Number.NaN;
  const year = pair(bytes, at) * 100 + pair(bytes, at + 2);
  const month = pair(bytes, at + 5);
  const day = pair(bytes, at + 8);
  const isDate = year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  return isDate ? daysFromCivil(year, month, day) * MS_PER_DAY : Number.NaN;
}

/** Milliseconds since midnight; NaN when what follows the date is no clock in one of the usual forms. */
function clock(bytes: Uint8Array, at: number): number {
  if (bytes[at + 10] !== LETTER_T || bytes[at + 13] !== COLON || bytes[at + 16] !== COLON) return Number.NaN;
  const hour = pair(bytes, at + 11);
  const minute = pair(bytes, at + 14);
  const second = pair(bytes, at + 17);
  const ms = fraction(bytes, at);
  const isClock = hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59 && ms >= 0;
  return isClock ? hour * 3_600_000 + minute * 60_000 + second * 1000 + ms : Number.NaN;
}

/** Milliseconds behind the point; negative when neither form ends here. */
function fraction(bytes: Uint8Array, at: number): number {
  if (bytes[at + 19] === LETTER_Z) return bytes[at + 20] === QUOTE ? 0 : NO_DIGITS;
  const hasMarks = bytes[at + 19] === POINT && bytes[at + 23] === LETTER_Z && bytes[at + 24] === QUOTE;
  const last = (bytes[at + 22] as number) - ZERO;
  return hasMarks && last >= 0 && last <= 9 ? pair(bytes, at + 20) * 10 + last : NO_DIGITS;
}

/** The number of two digits. */
function pair(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - ZERO;
  const ones = (bytes[at + 1] as number) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_DIGITS;
}
