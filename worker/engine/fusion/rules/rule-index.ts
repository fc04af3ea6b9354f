import type { StreamCounters } from '../../engine.ts';
import type { TextPlace } from '../event-entry.ts';
import { equalityFinder } from './equality-finder.ts';
import type { Finder, PlacedRule, RuleBounds } from './finder.ts';
import { intervalFinder } from './interval-finder.ts';
import { type RuleLists, WrittenList } from './rule-lists.ts';

/**
 * Finds those of many rules whose bounds a row fits: by hash on a constant that a column must equal, by the interval that a
 * number lies in. What is left of their conditions, the rules' own functions decide.
 */
export interface RuleIndex extends RuleLists {
  /**
   * The number of the list of rules for the value of the only column and where it is kept, or for the values of all columns in the
   * order of `columnsOf`.
   */
  readonly find: (values: unknown, place?: TextPlace) => number;
  /** Results of each rule since they were last counted to its stream. */
  readonly counts: Float64Array;
  /** Counts rows that came as events of every rule's stream, and results as the rule's own. */
  readonly settleCounts: () => void;
}

/** `bounds` of each rule, and the `counters` of its stream. One finder for each column and kind of bounds. */
export function ruleIndex(bounds: readonly RuleBounds[], counters: readonly StreamCounters[]): RuleIndex {
  const finders = [...byColumn(bounds).values()].map(finderOf);
  const { lists, listOf } = finders.length === 1 ? (finders[0] as Finder) : joined(finders, bounds.length);
  const counts = new Float64Array(bounds.length);
  let arrived = 0;
  return {
    ...lists,
    counts,
    find: (values, place) => {
      arrived++;
      return listOf(values, place);
    },
    settleCounts: () => {
      counters.forEach((one, place) => {
        one.eventsIn += arrived;
        one.eventsOut += counts[place] as number;
      });
      arrived = 0;
      counts.fill(0);
    },
  };
}

/** Of several columns: what all of them find. */
function joined(finders: readonly Finder[], size: number): Finder {
  const all = new WrittenList(size);
  const listOf = (values: unknown): number => {
    all.clear();
    let found = 0;
    for (let at = 0; at < finders.length; at++) if (addFound(finders[at] as Finder, (values as unknown[])[at], all)) found++;
    if (found > 1) all.sort();
    return 0;
  };
  return { lists: all, listOf };
}

function addFound({ lists: { starts, rules }, listOf }: Finder, value: unknown, all: WrittenList): boolean {
  const list = listOf(value);
  const [from, to] = [starts[list] as number, starts[list + 1] as number];
  for (let at = from; at < to; at++) all.add(rules[at] as number);
  return from < to;
}

/** The columns that rules are found by, in the order in which their values are handed in. */
export function columnsOf(bounds: readonly RuleBounds[]): readonly string[] {
  return [...byColumn(bounds).values()].map(([first]) => (first as PlacedRule).bounds.column);
}

function byColumn(bounds: readonly RuleBounds[]): ReadonlyMap<string, readonly PlacedRule[]> {
  const groups = new Map<string, PlacedRule[]>();
  bounds.forEach((one, place) => {
    const name = `${one.kind}:${one.column}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [{ place, bounds: one }]);
    else group.push({ place, bounds: one });
  });
  return groups;
}

function finderOf(rules: readonly PlacedRule[]): Finder {
  return rules[0]?.bounds.kind === 'equals' ? equalityFinder(rules) : intervalFinder(rules);
}
