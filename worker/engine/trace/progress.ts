import type { Captures } from '../patterns/captures.ts';
import { compareRuns, type PartialMatch } from '../patterns/run.ts';

/** The run that has come furthest: most steps, then most events, then the oldest; null when there is none. */
export function furthestOf(runs: readonly PartialMatch[]): PartialMatch | null {
  let furthest: PartialMatch | null = null;
  for (const run of runs) if (furthest === null || isFurther(run, furthest)) furthest = run;
  return furthest;
}

function isFurther(run: PartialMatch, other: PartialMatch): boolean {
  return (moreOf(run, other) || compareRuns(other, run)) > 0;
}

/** Whether it has taken more steps, or as many and more events. */
export function hasMore(run: PartialMatch, other: PartialMatch): boolean {
  return moreOf(run, other) > 0;
}

function moreOf({ progress: { captures: own } }: PartialMatch, { progress: { captures: others } }: PartialMatch): number {
  return stepsTaken(own) - stepsTaken(others) || eventsTaken(own) - eventsTaken(others);
}

export function stepsTaken(captures: Captures): number {
  let steps = 0;
  for (const capture of captures) if (capture !== null) steps++;
  return steps;
}

export function eventsTaken(captures: Captures): number {
  let events = 0;
  for (const capture of captures) events += capture?.length ?? 0;
  return events;
}
