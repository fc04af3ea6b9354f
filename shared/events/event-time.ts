import { roundToMicrosecond, TIMESTAMP_MS_MAX } from './calendar.ts';
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
  if (typeof value === 'string') return parseTimestamp(value);
  if (typeof value !== 'number') return undefined;
  const ms = Math.abs(value) < SECONDS_MAX ? value * 1000 : value;
  return Math.abs(ms) <= TIMESTAMP_MS_MAX ? roundToMicrosecond(ms) : undefined;
}
