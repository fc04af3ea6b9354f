import type { StreamCounters } from '../../engine.ts';
import type { TextPlace } from '../event-entry.ts';
import { equalityFinder } from './equality-finder.ts';
import type { Finder, PlacedRule, RuleBounds } from './finder.ts';
import { intervalFinder } from './interval-finder.ts';
import { listsOf, type RuleLists, WrittenList } from './rule-lists.ts';
import { textColumnsOf, textFinder } from './text-finder.ts';

/**
 * Finds those of many rules whose bounds a row fits: by hash on a constant that a column must equal, by the interval that a
 * number lies in, by texts of which columns must have one. What is left of their conditions, the rules' own functions decide.
 */
export interface RuleIndex extends RuleLists {
  /**
   * The number of the list of rules for the value of the only column and where it is kept, or for the values of all columns in the
   * order of `columnsOf`.
   */
  readonly find: (values: unknown, place?: TextPlace) => number;
  /** Results of each rule since they were last counted to its stream. */
  readonly counts: Float64Array;
  /** By rule, 1 where the row that was looked up last is for the stream's own operators: it has no texts where the condition asks for them. */
  readonly asks: Uint8Array;
  /** Rows of each rule that were, since they were last counted: these operators count them. */
  readonly asked: Float64Array;
  /** Counts rows that came as events of every rule's stream, and results as the rule's own. */
  readonly settleCounts: () => void;
}

/** `bounds` of each rule, and the `counters` of its stream. One finder for each column and kind of bounds, one for all by texts, one for all that are
 * asked always. */
export function ruleIndex(bounds: readonly RuleBounds[], counters: readonly StreamCounters[]): RuleIndex {
  const groups = [...groupsOf(bounds).values()];
  const asks = new Uint8Array(bounds.length);
  const { lists, listOf } = groups.length === 1 ? finderOf(groups[0] as PlacedRule[], 0, asks) : joined(groups, asks);
  const [counts, asked] = [new Float64Array(bounds.length), new Float64Array(bounds.length)];
  let arrived = 0;
  return {
    ...lists,
    counts,
    asks,
    asked,
    find: (values, place) => {
      arrived++;
      return listOf(values, place);
    },
    settleCounts: () => {
      counters.forEach((one, place) => {
        one.eventsIn += arrived - (asked[place] as number);
        one.eventsOut += counts[place] as number;
      });
      arrived = 0;
      counts.fill(0);
      asked.fill(0);
    },
  };
}

/** Of several groups: what all of them find. */
function joined(groups: readonly (readonly PlacedRule[])[], asks: Uint8Array): Finder {
  const all = new WrittenList(asks.length);
  let from = 0;
  const finders = groups.map((group) => {
    const [finder, at] = [finderOf(group, from, asks), from];
    from += columnsOfGroup(group).length;
    return isByTexts(group) ? finder : { lists: finder.lists, listOf: (values: unknown) => finder.listOf((values as unknown[])[at]) };
  });
  const listOf = (values: unknown): number => {
    all.clear();
    let found = 0;
    for (let at = 0; at < finders.length; at++) if (addFound(finders[at] as Finder, values, all)) found++;
    if (found > 1) all.sort();
    return 0;
  };
  return { lists: all, listOf };
}

function addFound({ lists: { starts, rules }, listOf }: Finder, values: unknown, all: WrittenList): boolean {
  const list = listOf(values);
  const [from, to] = [starts[list] as number, starts[list + 1] as number];
  for (let at = from; at < to; at++) all.add(rules[at] as number);
  return from < to;
}

/** The columns that rules are found by, in the order in which their values are handed in. */
export function columnsOf(bounds: readonly RuleBounds[]): readonly string[] {
  return [...groupsOf(bounds).values()].flatMap(columnsOfGroup);
}

/** Whether the values are handed in as a list. */
export function takesList(bounds: readonly RuleBounds[]): boolean {
  const groups = [...groupsOf(bounds).values()];
  return groups.length > 1 || groups.some(isByTexts);
}

/** By bounds: they are asked for again and again while a program is loaded. */
const known = new WeakMap<readonly RuleBounds[], ReadonlyMap<string, readonly PlacedRule[]>>();

/** Rules that one finder finds: those by one column and kind of bounds, and all those by texts. */
function groupsOf(bounds: readonly RuleBounds[]): ReadonlyMap<string, readonly PlacedRule[]> {
  const found = known.get(bounds) ?? foundGroups(bounds);
  known.set(bounds, found);
  return found;
}

function foundGroups(bounds: readonly RuleBounds[]): ReadonlyMap<string, readonly PlacedRule[]> {
  const groups = new Map<string, PlacedRule[]>();
  let kind = '';
  let column = '';
  let group: PlacedRule[] = [];
  bounds.forEach((one, place) => {
    const ownColumn = 'column' in one ? one.column : '';
    // Most are of the group of the one before.
    if (one.kind !== kind || ownColumn !== column) {
      const name = 'column' in one ? `${one.kind}:${one.column}` : one.kind;
      group = groups.get(name) ?? [];
      groups.set(name, group);
      [kind, column] = [one.kind, ownColumn];
    }
    group.push({ place, bounds: one });
  });
  return groups;
}

function columnsOfGroup(group: readonly PlacedRule[]): readonly string[] {
  const [{ bounds }] = group as readonly [PlacedRule];
  if (bounds.kind === 'always') return [];
  return bounds.kind === 'texts' ? textColumnsOf(group) : [bounds.column];
}

function isByTexts([first]: readonly PlacedRule[]): boolean {
  return first?.bounds.kind === 'texts';
}

/** `from`: where the values of its columns begin. `asks`: as in the index. */
function finderOf(rules: readonly PlacedRule[], from: number, asks: Uint8Array): Finder {
  switch (rules[0]?.bounds.kind) {
    case 'texts':
      return textFinder(rules, from, asks);
    case 'equals':
      return equalityFinder(rules);
    case 'always':
      return { lists: listsOf([rules.map(({ place }) => place)]), listOf: () => 0 };
    default:
      return intervalFinder(rules);
  }
}
