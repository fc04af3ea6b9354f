import { roundToMicrosecond } from '../../../shared/events/calendar.ts';

/** `time + duration` (ms) as the event time that it is: rounded to the microsecond, so that equal times compare equal. */
export function plus(timeMs: number, durationMs: number): number {
  const sum = timeMs + durationMs;
  return Number.isFinite(sum) ? roundToMicrosecond(sum) : sum;
}

/** The smallest watermark that lies past a time: the next double. Deadlines that include their last moment end there. */
export function justAfter(timeMs: number): number {
  if (!Number.isFinite(timeMs)) return timeMs;
  return timeMs + Math.max(Math.abs(timeMs) * HALF_ULP, Number.MIN_VALUE);
}

/** A little more than half the distance to the next double, relative to the number: the sum is rounded to that neighbour. */
const HALF_ULP = 2 ** -53 * (1 + 2 ** -52);

/** How many whole steps fit into a span; one less for every step below zero. Both are multiples of a microsecond. */
export function wholeSteps(spanMs: number, stepMs: number): number {
  if (Number.isInteger(spanMs) && Number.isInteger(stepMs)) return Math.floor(spanMs / stepMs);
  return Math.floor(Math.round(spanMs * 1000) / Math.round(stepMs * 1000));
}
