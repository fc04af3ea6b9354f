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

/** What a column is asked for. */
export interface TextTest {
  readonly column: string;
  /** The letters in which it is asked: as they are, or all in one case. */
  readonly letters: 'same' | 'lower' | 'upper';
  readonly how: 'contains' | 'starts' | 'ends' | 'equals';
  /** Not empty. */
  readonly text: string;
}

/** What a condition needs of texts. */
export interface TextNeeds {
  /** One of them holds where the condition is true. */
  readonly tests: readonly TextTest[];
  /** Columns that are read before one holds. Where each of them is null or a text of common length, nothing fails. */
  readonly reads: ReadonlySet<string>;
  /** How many texts are made of them before one holds. */
  readonly makes: number;
}

type ColumnBounds = ({ readonly kind: 'equals'; readonly value: string | number } | ({ readonly kind: 'between' } & Interval)) & {
  readonly column: string;
};

/** Where a rule can hold at all. `always`: it stands among others that are found, and is asked for every row. */
export type RuleBounds = (ColumnBounds | ({ readonly kind: 'texts' } & TextNeeds) | { readonly kind: 'always' }) & {
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
