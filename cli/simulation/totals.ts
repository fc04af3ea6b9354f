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
  /** Of the streams whose results are not their alerts. Absent in those of an earlier version. */
  readonly alerts?: readonly (readonly [string, number])[];
  readonly problems: SavedProblems;
  readonly undelivered: readonly (readonly [string, number])[];
}

/** What of the counters of a stream is worth a line. */
export type NotedCounters = Pick<StreamCounters, 'eventsOut' | 'failures' | 'late' | 'runsDropped' | 'taps'>;

const COUNTERS_SHOWN_MAX = 20;

/** Alerts of a stream that can give some. */
export interface RuleCount {
  readonly stream: string;
  readonly alerts: number;
}

/** A line for each stream that gave alerts, most first, and one that names those that gave none. */
export function ruleLines(counts: readonly RuleCount[]): string[] {
  const fired = counts.filter(({ alerts }) => alerts > 0).sort((one, other) => other.alerts - one.alerts);
  const silent = counts.filter(({ alerts }) => alerts === 0).map(({ stream }) => stream);
  const width = Math.max(0, ...fired.map(({ stream }) => stream.length));
  return [
    ...(fired.length === 0
      ? []
      : ['Alerts by stream:', ...fired.map(({ stream, alerts }) => `  ${stream.padEnd(width)}  ${thousands(alerts)}`)]),
    ...(silent.length === 0 ? [] : [`Never fired: ${silent.join(', ')}`]),
  ];
}

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
