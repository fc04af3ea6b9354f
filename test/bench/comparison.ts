import { ratiosOf, type Spread, spreadOf } from './statistics.ts';

/** Below this share of the other's speed a scenario has become slower. */
const SLOWER_BELOW = 0.9;

/** Times of one scenario in both checkouts, milliseconds, round by round. */
export interface PairedTimes {
  readonly name: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

/** The speed of this checkout as a share of the other's. */
export interface Comparison {
  readonly name: string;
  readonly ratio: Spread;
  readonly isSlower: boolean;
}

export function compare({ name, ours, theirs }: PairedTimes): Comparison {
  const ratio = spreadOf(ratiosOf(theirs, ours));
  return { name, ratio, isSlower: ratio.median < SLOWER_BELOW };
}

/** Scenarios that were slower in a run and in the one behind it, which had only those of the first that were. */
export function slowerTwice(first: readonly Comparison[], second: readonly Comparison[]): string[] {
  const names = (run: readonly Comparison[]): string[] => run.filter(({ isSlower }) => isSlower).map(({ name }) => name);
  const again = new Set(names(second));
  return names(first).filter((name) => again.has(name));
}
