import type { StreamCounters } from '../../worker/engine/engine.ts';
import { counted, thousands } from '../counts.ts';
import { visible } from '../event-text.ts';
import type { SavedProblems } from './event-problems.ts';

/** What a checkpoint keeps of the counts. */
export interface SavedTotals {
  readonly elapsedMs: number;
  /** Those read, invalid ones included. */
  readonly events: number;
  readonly eventsProcessed: number;
  readonly outputs: number;
  readonly problems: SavedProblems;
  readonly undelivered: readonly (readonly [string, number])[];
}

/** What of the counters of a stream is worth a line. */
export type NotedCounters = Pick<StreamCounters, 'failures' | 'late' | 'runsDropped' | 'taps'>;

const COUNTERS_SHOWN_MAX = 20;

/** Lines about what the streams counted and a user should know: failures, late events, dropped runs, counters of `.tap`. */
export function streamNotes({ streams }: { readonly streams: ReadonlyMap<string, NotedCounters> }): string[] {
  const lines: string[] = [];
  const counters: string[] = [];
  for (const [name, { failures, late, runsDropped, taps }] of streams) {
    if (failures > 0) lines.push(`Failures:          ${thousands(failures)} in stream ${name}`);
    if (late > 0) lines.push(`Late events:       ${thousands(late)} in stream ${name}`);
    for (const [reason, count] of runsDropped) lines.push(`Dropped:           ${thousands(count)} in stream ${name} (${reason})`);
    for (const [counter, count] of taps) counters.push(`Counter:           ${visible(counter)} ${thousands(count)}`);
  }
  const hidden = counters.length - COUNTERS_SHOWN_MAX;
  return [...lines, ...counters.slice(0, COUNTERS_SHOWN_MAX), ...(hidden > 0 ? [`and ${counted(hidden, 'more counter')}`] : [])];
}
