import type { TextPlace } from '../event-entry.ts';
import type { RuleLists } from './rule-lists.ts';
import type { TextCondition } from './text-condition.ts';
import type { TextNeeds, TextTest } from './text-test.ts';

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

type ColumnBounds = ({ readonly kind: 'equals'; readonly value: string | number } | ({ readonly kind: 'between' } & Interval)) & {
  readonly column: string;
};

/** `condition`: all of the rule's, which is decided where the texts are found; null = the rule's own function asks it. */
type TextBounds = { readonly kind: 'texts'; readonly condition: TextCondition | null } & TextNeeds;

/** Where a rule can hold at all. `always`: it stands among others that are found, and is asked for every row. */
export type RuleBounds = (ColumnBounds | TextBounds | { readonly kind: 'always' }) & {
  /** The bounds say all that the rule's condition says: what lies within them fits. */
  readonly isExact: boolean;
};

/** In words: which rows a rule is found for; null = all. */
export function boundsText(bounds: RuleBounds): string | null {
  switch (bounds.kind) {
    case 'always':
      return null;
    case 'equals':
      return `${bounds.column} == ${JSON.stringify(bounds.value)}`;
    case 'between': {
      const { column, low, high, hasLow, hasHigh } = bounds;
      const least = low === -Infinity ? [] : [`${column} ${hasLow ? '>=' : '>'} ${low}`];
      const most = high === Infinity ? [] : [`${column} ${hasHigh ? '<=' : '<'} ${high}`];
      return [...least, ...most].join(' and ');
    }
    case 'texts': {
      const shown = bounds.tests.slice(0, TESTS_SHOWN).map(testText);
      const more = bounds.tests.length - shown.length;
      return `${shown.join(' or ')}${more === 0 ? '' : ` or one of ${more} more texts`}`;
    }
  }
}

const TESTS_SHOWN = 3;
const RELATIONS = { contains: 'contains', starts: 'starts with', ends: 'ends with', equals: '==' } as const;

function testText({ column, letters, how, text }: TextTest): string {
  return `${letters === 'same' ? column : `${letters}(${column})`} ${RELATIONS[how]} ${JSON.stringify(text)}`;
}

/** A rule's place among all that read the rows, in order of declaration, and where it can hold. */
export interface PlacedRule {
  readonly place: number;
  readonly bounds: RuleBounds;
}

/** Finds rules by the value of one column, by texts by those of several. */
export interface Finder {
  readonly lists: RuleLists;
  /** The number of the list of those that the value fits. `place`: where a text is kept. By texts: all values of the row. */
  readonly listOf: (value: unknown, place?: TextPlace) => number;
}
