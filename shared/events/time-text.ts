import { daysFromCivil, daysInMonth, MS_PER_DAY, roundToMicrosecond, TIMESTAMP_MS_MAX, timeParts } from './calendar.ts';

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');

/**
 * ISO 8601 in UTC: `2026-01-31T10:00:00Z`, with three digits of fraction where there is one, and six where three are too
 * few. Years outside 0 to 9999 have a sign and six digits. A number that is no point in time is printed as it is.
 */
export function timestampText(ms: number): string {
  if (!(Math.abs(ms) <= TIMESTAMP_MS_MAX)) return String(ms);
  const { year, month, day, hour, minute, second, microsecond } = timeParts(ms);
  const date = `${yearText(year)}-${pad(month, 2)}-${pad(day, 2)}`;
  return `${date}T${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}${fractionText(microsecond)}Z`;
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return pad(year, 4);
  return `${year < 0 ? '-' : '+'}${pad(Math.abs(year), 6)}`;
}

function fractionText(microsecond: number): string {
  if (microsecond === 0) return '';
  return microsecond % 1000 === 0 ? `.${pad(microsecond / 1000, 3)}` : `.${pad(microsecond, 6)}`;
}

const TIMESTAMP = /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?$/i;

export interface WrittenTime {
  readonly ms: number;
  /** The text states its offset from UTC; otherwise it was read as UTC. */
  readonly hasOffset: boolean;
}

/**
 * Reads an ISO 8601 date or date-time, with its offset in any form (`Z`, `+02:00`, `+0200`, `+02`). Every part must exist in the calendar (no February 30, no hour 24, no second 60);
 * a fraction is cut after the microsecond. Anything else is undefined.
 */
export function readTimestamp(text: string): WrittenTime | undefined {
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetMs = readOffset(match[8]);
  if (offsetMs === undefined) return undefined;
  const whole = daysFromCivil(year, month, day) * MS_PER_DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 - offsetMs;
  const ms = roundToMicrosecond(whole + Number((match[7] ?? '').slice(0, 6).padEnd(6, '0')) / 1000);
  return Math.abs(ms) <= TIMESTAMP_MS_MAX ? { ms, hasOffset: match[8] !== undefined } : undefined;
}

/** `+hh:mm`, `+hhmm` or `+hh` in milliseconds; nothing and `Z` are 0. */
export function readOffset(text: string | undefined): number | undefined {
  if (text === undefined || text === 'Z' || text === 'z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return undefined;
  return (hours * 3_600_000 + minutes * 60_000) * (text.startsWith('-') ? -1 : 1);
}

/** Epoch milliseconds of an ISO 8601 date or date-time; without an offset it is UTC. Undefined when it is no such text. */
export function parseTimestamp(text: string): number | undefined {
  return readTimestamp(text)?.ms;
}

const UNITS = [
  { unit: 'w', ms: 604_800_000 },
  { unit: 'd', ms: MS_PER_DAY },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'm', ms: 60_000 },
  { unit: 's', ms: 1000 },
  { unit: 'ms', ms: 1 },
  { unit: 'us', ms: 1e-3 },
  { unit: 'ns', ms: 1e-6 },
] as const;

/** `1h30m`, `5m`, `0s`, `-2s500ms`: the literal that reads back as the same duration, down to the nanosecond. Weeks are days. */
export function durationText(ms: number): string {
  const { whole, ns } = splitNanoseconds(Math.abs(ms));
  let rest = whole;
  let text = '';
  for (const unit of UNITS.slice(1, 6)) {
    const count = Math.floor(rest / unit.ms);
    rest %= unit.ms;
    if (count > 0) text += `${count}${unit.unit}`;
  }
  if (ns >= 1000) text += `${Math.floor(ns / 1000)}us`;
  if (ns % 1000 > 0) text += `${ns % 1000}ns`;
  if (text === '') return '0s';
  return ms < 0 ? `-${text}` : text;
}

/** Whole milliseconds and the nanoseconds behind them, without digits below the microsecond that a double only pretends. */
function splitNanoseconds(ms: number): { readonly whole: number; readonly ns: number } {
  const whole = Math.floor(ms);
  const us = Math.round((ms - whole) * 1e3);
  const ns = whole + us / 1e3 === ms ? us * 1000 : Math.round((ms - whole) * 1e6);
  return ns === 1e6 ? { whole: whole + 1, ns: 0 } : { whole, ns };
}

/**
 * Milliseconds of a duration as the language writes it: `500ms`, `1h30m`, `1.5s`, a leading `-`. Units go from large to
 * small and none comes twice. Undefined when the text is no duration.
 */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith('-');
  const part = /(\d+(?:\.\d+)?)(ns|us|ms|[wdhms])/y;
  part.lastIndex = negative ? 1 : 0;
  let [ms, ns, smallest, end] = [0, 0, -1, part.lastIndex];
  for (let match = part.exec(text); match; match = part.exec(text)) {
    const rank = UNITS.findIndex(({ unit }) => unit === match?.[2]);
    if (rank <= smallest) return undefined;
    if (rank < 6) ms += Number(match[1]) * (UNITS[rank]?.ms ?? 0);
    else ns += Number(match[1]) * (rank === 6 ? 1000 : 1);
    smallest = rank;
    end = part.lastIndex;
  }
  const total = ms + ns / 1e6;
  if (smallest < 0 || end !== text.length || !Number.isFinite(total)) return undefined;
  return negative ? -total + 0 : total;
}
