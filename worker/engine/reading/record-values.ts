import { readEventTime } from '../../../shared/events/event-time.ts';
import { Duration, type Value } from '../../../shared/events/value.ts';

/** Texts up to this length, of as many fields as an event may have, are within every limit of an event. */
const SHORT_TEXT_LENGTH_MAX = 256;

export function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= SHORT_TEXT_LENGTH_MAX;
}

export function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && value - value === 0;
}

export function isSafeWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

export function isBool(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** Epoch milliseconds of what a declared timestamp may be; NaN for anything else. */
export function timeOf(value: Value | undefined): number {
  const time = value === undefined ? undefined : readEventTime(value);
  return isFiniteNumber(time) ? time : Number.NaN;
}

/** Milliseconds of a number or a duration; NaN for anything else, also for text, which is left to the long way. */
export function milliseconds(value: Value | undefined): number {
  const ms = value instanceof Duration ? value.ms : value;
  return isFiniteNumber(ms) ? ms : Number.NaN;
}
