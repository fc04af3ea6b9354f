import type { Finder, PlacedRule, Rule } from './rule-index.ts';

/** Entries of all lists together; rules that overlap more are all tried. */
const ENTRIES_MAX = 4_000_000;

type Interval = { readonly rule: Rule; readonly low: number; readonly high: number };

/**
 * Rules by the numbers between which a column must lie. The ends of all rules cut the line into points and the gaps between
 * them; each has the list of rules that reach over it, in order of declaration.
 */
export class IntervalFinder implements Finder {
  readonly #ends: Float64Array;
  /** List 2i is the gap below end i, 2i + 1 the end itself; the last is the gap above all. Null = too much overlap. */
  readonly #lists: readonly (readonly Rule[])[] | null;
  readonly #all: readonly Rule[];

  constructor(rules: readonly PlacedRule[]) {
    const intervals = rules.flatMap(({ rule, bounds }) => (bounds.kind === 'between' ? { rule, low: bounds.low, high: bounds.high } : []));
    this.#all = intervals.map(({ rule }) => rule);
    this.#ends = Float64Array.from(new Set(intervals.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite))).sort();
    this.#lists = this.#listsOf(intervals);
  }

  readonly rules = (value: unknown): readonly Rule[] => {
    if (this.#lists === null) return this.#all;
    return this.#lists[this.#placeOf(value as number)] as readonly Rule[];
  };

  #listsOf(intervals: readonly Interval[]): readonly (readonly Rule[])[] | null {
    const lists: Rule[][] = Array.from({ length: 2 * this.#ends.length + 1 }, () => []);
    let entries = 0;
    for (const { rule, low, high } of intervals) {
      const from = low === -Infinity ? 0 : this.#placeOf(low);
      const to = high === Infinity ? lists.length - 1 : this.#placeOf(high);
      entries += Math.max(0, to - from + 1);
      if (entries > ENTRIES_MAX) return null;
      for (let place = from; place <= to; place++) lists[place]?.push(rule);
    }
    return lists;
  }

  #placeOf(value: number): number {
    const ends = this.#ends;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return ends[low] === value ? 2 * low + 1 : 2 * low;
  }
}
