/**
 * The proleptic Gregorian calendar in plain arithmetic, for every year, without `Date`.
 * Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
 */

export const MS_PER_DAY = 86_400_000;

/** The furthest time from the epoch that is a point in time (about 275,000 years); beyond it arithmetic gives null. */
export const TIMESTAMP_MS_MAX = 8.64e15;

/** Days since 1970-01-01. The month is 1 to 12, the day 1 to 31; both must be valid. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** A point in time as a calendar and a clock show it. */
export interface TimeParts extends CivilDate {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Microseconds within the second. */
  readonly microsecond: number;
  /** Monday is 1, Sunday 7. */
  readonly weekday: number;
}

/** The parts of a time in UTC; add an offset first for another zone. Rounded to the microsecond. */
export function timeParts(ms: number): TimeParts {
  const time = roundToMicrosecond(ms);
  const whole = Math.floor(time);
  const days = Math.floor(whole / MS_PER_DAY);
  const msOfDay = whole - days * MS_PER_DAY;
  // Not `...civilFromDays(days)`: spreading costs V8 fifty times as much as naming the fields.
  const { year, month, day } = civilFromDays(days);
  return {
    year,
    month,
    day,
    hour: Math.floor(msOfDay / 3_600_000),
    minute: Math.floor(msOfDay / 60_000) % 60,
    second: Math.floor(msOfDay / 1000) % 60,
    microsecond: (msOfDay % 1000) * 1000 + Math.round((time - whole) * 1000),
    weekday: ((((days + 3) % 7) + 7) % 7) + 1,
  };
}

/** The double next to a whole number of microseconds: equal times are then equal numbers, however they were computed. */
export function roundToMicrosecond(ms: number): number {
  if (Number.isInteger(ms)) return ms;
  const whole = Math.trunc(ms);
  return whole + Math.round((ms - whole) * 1000) / 1000;
}
