import { parseDuration } from '../shared/events/text.ts';

/** Milliseconds of a number of seconds, or of a duration as in a program; undefined when the text is neither, or not above 0. */
export function readInterval(text: string): number | undefined {
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : parseDuration(text);
  return ms !== undefined && ms > 0 && Number.isFinite(ms) ? ms : undefined;
}

/** What is said of a text that is no interval. */
export function intervalProblem(where: string, text: string): string {
  return `${where}: expected seconds or a duration such as 500ms, found '${text}'`;
}
