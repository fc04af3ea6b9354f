import { plus } from '../../../time/instants.ts';

/** As `plus`; whole milliseconds, as most times are, without a detour. */
export function later(timeMs: number, durationMs: number): number {
  const sum = timeMs + durationMs;
  return Number.isInteger(sum) ? sum : plus(timeMs, durationMs);
}
