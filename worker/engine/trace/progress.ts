import type { Captures } from '../patterns/captures.ts';
import { compareRuns, type PartialMatch } from '../patterns/run.ts';

/** The run that has come furthest: most steps, then most events, then the oldest; null when there is none. */
export function furthestOf(runs: readonly PartialMatch[]): PartialMatch | null {
  let furthest: PartialMatch | null = null;
  for (const run of runs) if (furthest === null || isFurther(run, furthest)) furthest = run;
  return furthest;
}

export function isFurther(run: PartialMatch, other: PartialMatch): boolean {
  const [own, others] = [run.progress.captures, other.progress.captures];
  return (stepsTaken(own) - stepsTaken(others) || eventsTaken(own) - eventsTaken(others) || compareRuns(other, run)) > 0;
}

export function stepsTaken(captures: Captures): number {
  return captures.filter((capture) => capture !== null).length;
}

function eventsTaken(captures: Captures): number {
  return captures.reduce((events, capture) => events + (capture?.length ?? 0), 0);
}
