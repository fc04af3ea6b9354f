import { parseDuration } from '../events/time-text.ts';

/** Timers take less than 2^31 ms. */
const INTERVAL_MS_MAX = 2 ** 31 - 1;

/** Milliseconds of a number of seconds, or of a duration as in a program; undefined when the text is neither, not above 0, or above what a timer takes. */
export function readInterval(text: string): number | undefined {
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  return ms !== undefined && ms > 0 && ms <= INTERVAL_MS_MAX ? ms : undefined;
}

/** What an interval is, for who gave none. */
export const INTERVAL = 'seconds or a duration such as 500ms, below 25 days';

/** What is said of a text that is no interval. */
export function intervalProblem(where: string, text: string): string {
  return `${where}: expected ${INTERVAL}, found '${text}'`;
}
