import type { StreamCounters } from '../../engine.ts';
import { EqualityFinder } from './equality-finder.ts';
import { IntervalFinder } from './interval-finder.ts';

/** One of many streams that read the same rows: what its function was printed with. The function is its first constant. */
export type Rule = object;

/** Where a rule can hold at all: at one value of a column, or from one number to another. */
export type RuleBounds =
  | { readonly kind: 'equals'; readonly column: string; readonly value: string | number | boolean }
  | { readonly kind: 'between'; readonly column: string; readonly low: number; readonly high: number };

/** Finds rules by the value of one column. */
export interface Finder {
  readonly rules: (value: unknown) => readonly Rule[];
}

/** A rule in its place among all that read the rows. */
export interface PlacedRule {
  readonly rule: Rule;
  readonly bounds: RuleBounds;
}

/**
 * Finds those of many rules that a row may fit: by hash on a constant that a column must equal, by the interval that a number
 * lies in. What it finds is in order of declaration and may be too much; the rules' own functions decide.
 */
export class RuleIndex {
  readonly #finders: readonly Finder[];
  readonly #places: ReadonlyMap<Rule, number>;
  readonly #counters: readonly StreamCounters[];
  #arrived = 0;

  /** `counters`: those of the rules' streams. One finder for each column and kind of bounds, as `columnsOf` has them. */
  constructor(rules: readonly PlacedRule[], counters: readonly StreamCounters[]) {
    this.#finders = [...byColumn(rules).values()].map(finderOf);
    this.#places = new Map(rules.map(({ rule }, place) => [rule, place]));
    this.#counters = counters;
  }

  /** The rules that a row may fit, where all are found by one column. */
  find(value: unknown): readonly Rule[] {
    this.#arrived++;
    return (this.#finders[0] as Finder).rules(value);
  }

  /** The rules that a row may fit; `values` in the order of `columnsOf`. */
  findAny(values: readonly unknown[]): readonly Rule[] {
    this.#arrived++;
    const found = this.#finders.flatMap((finder, at) => finder.rules(values[at]));
    return found.sort((a, b) => (this.#places.get(a) as number) - (this.#places.get(b) as number));
  }

  /** Rows that came are events of every rule's stream; they are counted together. */
  settleCounts(): void {
    for (const counters of this.#counters) counters.eventsIn += this.#arrived;
    this.#arrived = 0;
  }
}

/** The columns that rules are found by, in the order in which their values are handed in. */
export function columnsOf(bounds: readonly RuleBounds[]): readonly string[] {
  return [...byColumn(bounds.map((one) => ({ rule: one, bounds: one }))).values()].map(([first]) => (first as PlacedRule).bounds.column);
}

function byColumn(rules: readonly PlacedRule[]): ReadonlyMap<string, readonly PlacedRule[]> {
  const groups = new Map<string, PlacedRule[]>();
  for (const rule of rules) {
    const name = `${rule.bounds.kind}:${rule.bounds.column}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [rule]);
    else group.push(rule);
  }
  return groups;
}

function finderOf(rules: readonly PlacedRule[]): Finder {
  return rules[0]?.bounds.kind === 'equals' ? new EqualityFinder(rules) : new IntervalFinder(rules);
}
