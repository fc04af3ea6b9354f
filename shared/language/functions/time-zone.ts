import { daysFromCivil, MS_PER_DAY, TIMESTAMP_MS_MAX } from '../../events/calendar.ts';
import { readOffset } from '../../events/time-text.ts';
import { BoundedCache } from './bounded-cache.ts';
import { EvaluationError } from './descriptor.ts';

/** A zone's offset from UTC at a time. */
type OffsetAt = (ms: number) => number;
type Zone = { readonly offsetAt: OffsetAt } | { readonly problem: string };

const zones = new BoundedCache<Zone>(64, findZone);

const FIXED_OFFSET = /^[+-]\d\d:\d\d$/;

function findZone(name: string): Zone {
  if (name === 'UTC' || name === 'Z') return { offsetAt: () => 0 };
  if (FIXED_OFFSET.test(name)) {
    const offset = readOffset(name);
    return offset === undefined ? unknown(name) : { offsetAt: () => offset };
  }
  const formatter = formatterOf(name);
  return formatter ? { offsetAt: remembering((ms) => offsetOf(formatter, ms)) } : unknown(name);
}

function unknown(name: string): Zone {
  return {
    problem: `unknown time zone ${JSON.stringify(name.slice(0, 64))}: write a name such as "Europe/Berlin", or an offset such as "+02:00"`,
  };
}

function formatterOf(name: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** No zone changes its offset twice within so short a time. */
const SPAN_MS = 21_600_000;

/** Asks once for the span around a time, when the offset is the same at both of its ends: formatting costs microseconds. */
function remembering(offsetAt: OffsetAt): OffsetAt {
  let start = Number.NaN;
  let offset = 0;
  return (ms) => {
    if (ms >= start && ms < start + SPAN_MS) return offset;
    const from = Math.floor(ms / SPAN_MS) * SPAN_MS;
    if (Math.abs(from) >= TIMESTAMP_MS_MAX - SPAN_MS) return offsetAt(ms);
    const found = offsetAt(from);
    if (offsetAt(from + SPAN_MS) !== found) return offsetAt(ms);
    start = from;
    offset = found;
    return offset;
  };
}

/** The local time that the formatter shows, read as if it were UTC, minus the time itself. */
function offsetOf(formatter: Intl.DateTimeFormat, ms: number): number {
  const seconds = Math.floor(ms / 1000) * 1000;
  const shown = new Map(formatter.formatToParts(seconds).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(shown.get(type));
  const year = shown.get('era') === 'BC' ? 1 - part('year') : part('year');
  const days = daysFromCivil(year, part('month'), part('day'));
  return days * MS_PER_DAY + part('hour') * 3_600_000 + part('minute') * 60_000 + part('second') * 1000 - seconds;
}

/** What is wrong with the name of a time zone, or undefined when nothing is. */
export function zoneProblem(name: string): string | undefined {
  const zone = zones.get(name);
  return 'problem' in zone ? zone.problem : undefined;
}

/**
 * Milliseconds by which local time in a zone (an IANA name or `+hh:mm`) is ahead of UTC at a point in time.
 * @throws EvaluationError for an unknown zone.
 */
export function zoneOffset(name: string, ms: number): number {
  const zone = zones.get(name);
  if ('problem' in zone) throw new EvaluationError(zone.problem);
  return Math.abs(ms) <= TIMESTAMP_MS_MAX ? zone.offsetAt(ms) : 0;
}

/**
 * The time at which clocks in the zone show this local time. Shown twice (clocks went back), it is the first of the two;
 * never shown (clocks went forward), it is read with the offset from before the change.
 */
export function fromLocalTime(name: string, localMs: number): number {
  const before = zoneOffset(name, localMs - MS_PER_DAY);
  const after = zoneOffset(name, localMs + MS_PER_DAY);
  const candidates = [localMs - before, localMs - after].filter((ms) => ms + zoneOffset(name, ms) === localMs);
  return candidates.length > 0 ? Math.min(...candidates) : localMs - before;
}
