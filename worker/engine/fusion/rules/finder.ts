import type { TextPlace } from '../event-entry.ts';
import type { RuleLists } from './rule-lists.ts';

/** The numbers between which a column must lie. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The ends belong to it. */
  readonly hasLow: boolean;
  readonly hasHigh: boolean;
}

export function isWithin(value: number, { low, high, hasLow, hasHigh }: Interval): boolean {
  return (value > low || (hasLow && value === low)) && (value < high || (hasHigh && value === high));
}

/** Where a rule can hold at all. */
export type RuleBounds = ({ readonly kind: 'equals'; readonly value: string | number } | ({ readonly kind: 'between' } & Interval)) & {
  readonly column: string;
  /** The bounds say all that the rule's condition says: what lies within them fits. */
  readonly isExact: boolean;
};

/** A rule's place among all that read the rows, in order of declaration, and where it can hold. */
export interface PlacedRule {
  readonly place: number;
  readonly bounds: RuleBounds;
}

/** Finds rules by the value of one column. */
export interface Finder {
  readonly lists: RuleLists;
  /** The number of the list of those that the value fits. `place`: where a text is kept. */
  readonly listOf: (value: unknown, place?: TextPlace) => number;
}
