import { limits } from '../../../../shared/limits.ts';
import type { Finder, PlacedRule, RuleBounds } from './finder.ts';
import { RowTexts } from './row-texts.ts';
import { WrittenList } from './rule-lists.ts';
import { type SoughtText, TextAutomaton } from './text-automaton.ts';
import { type Holds, holdsBy } from './text-condition.ts';
import type { TextTest } from './text-test.ts';

/** Longer texts are not searched: their rules are asked. */
const TEXT_MAX = 65_536;

type PlacedTexts = Extract<RuleBounds, { kind: 'texts' }> & { readonly place: number };

/** A rule whose condition is decided here, where all of these columns are texts. */
interface DecidedRule {
  readonly columns: readonly number[];
  readonly holds: Holds;
}

/** What is looked for in the letters of a column. */
interface Search {
  readonly read: () => string;
  readonly equals: ReadonlyMap<string, readonly number[]>;
  readonly automaton: TextAutomaton | null;
}

interface SearchedColumn {
  readonly searches: readonly Search[];
  /** The rules that read it. */
  readonly readers: readonly number[];
}

/** The columns that rules by texts read, in the order in which their values are handed in. */
export function textColumnsOf(rules: readonly PlacedRule[]): readonly string[] {
  return [...new Set(textsOf(rules).flatMap(({ reads, condition }) => [...reads, ...(condition?.columns ?? [])]))];
}

/**
 * Rules by texts that columns must contain, begin with, end with or be. A null has no text; whatever else is none, or is very long, may
 * make a condition fail, so the rules that read it are asked. Of rules whose condition is about texts alone those are listed of which it
 * holds; where a column of it is none, they are listed and noted in `asks`. `from`: where their columns stand among all values.
 */
export function textFinder(rules: readonly PlacedRule[], from: number, asks: Uint8Array): Finder {
  const texts = textsOf(rules);
  const names = textColumnsOf(rules);
  const row = new RowTexts(names, from);
  const columns = names.map((column) => searchedColumn(column, texts, row));
  const decided = decidedRules(texts, names, row);
  const lengthMax = lengthMaxOf(texts);
  const list = new WrittenList(texts.length);
  const foundIn = new Float64Array(texts.reduce((most, { place }) => Math.max(most, place + 1), 0));
  const isText = new Uint8Array(columns.length);
  let rows = 0;
  const found = (place: number): void => {
    if (foundIn[place] === rows) return;
    foundIn[place] = rows;
    const one = decided[place];
    if (one !== undefined) {
      const isAsked = one.columns.some((at) => isText[at] === 0);
      if (!isAsked && !one.holds()) return;
      asks[place] = isAsked ? 1 : 0;
    }
    list.add(place);
  };
  const listOf = (given: unknown): number => {
    const values = given as readonly unknown[];
    rows++;
    list.clear();
    row.begin(values);
    for (let at = 0; at < columns.length; at++) {
      const value = values[from + at];
      isText[at] = typeof value === 'string' && value.length <= lengthMax ? 1 : 0;
    }
    for (let at = 0; at < columns.length; at++) {
      const { searches, readers } = columns[at] as SearchedColumn;
      if (isText[at] === 1) for (const search of searches) searchIn(search, found);
      else if (values[from + at] !== null) for (const place of readers) found(place);
    }
    if ((list.starts[1] as number) > 1) list.sort();
    return 0;
  };
  return { lists: list, listOf };
}

/** All texts that one condition makes in other letters stay within what an evaluation may make. */
function lengthMaxOf(rules: readonly PlacedTexts[]): number {
  const makesMax = rules.reduce((most, { makes, condition }) => Math.max(most, makes, condition?.makes ?? 0), 1);
  return Math.min(TEXT_MAX, Math.floor(limits.evaluationWordsMax / makesMax));
}

/** By place. */
function decidedRules(rules: readonly PlacedTexts[], columns: readonly string[], row: RowTexts): readonly (DecidedRule | undefined)[] {
  const decided: (DecidedRule | undefined)[] = [];
  for (const { place, condition } of rules) {
    if (condition === null) continue;
    const holds = holdsBy(condition, (column, letters) => row.reader(column, letters));
    decided[place] = { columns: Array.from(condition.columns, (column) => columns.indexOf(column)), holds };
  }
  return decided;
}

function searchIn({ read, equals, automaton }: Search, found: (place: number) => void): void {
  const text = read();
  if (equals.size > 0) for (const place of equals.get(text) ?? []) found(place);
  automaton?.search(text, found);
}

function textsOf(rules: readonly PlacedRule[]): readonly PlacedTexts[] {
  return rules.flatMap(({ place, bounds }) => (bounds.kind === 'texts' ? [{ place, ...bounds }] : []));
}

function searchedColumn(column: string, rules: readonly PlacedTexts[], row: RowTexts): SearchedColumn {
  const kinds = new Set(rules.flatMap(({ tests }) => tests.filter((test) => test.column === column).map(({ letters }) => letters)));
  const readers = rules.flatMap(({ place, reads }) => (reads.has(column) ? [place] : []));
  return {
    readers,
    searches: Array.from(kinds, (letters) => ({ read: row.reader(column, letters), ...searchOf(column, letters, rules) })),
  };
}

function searchOf(column: string, letters: TextTest['letters'], rules: readonly PlacedTexts[]): Omit<Search, 'read'> {
  const equals = new Map<string, number[]>();
  const sought = new Map<string, SoughtText & { readonly places: number[] }>();
  for (const { place, tests } of rules) {
    for (const test of tests) {
      if (test.column !== column || test.letters !== letters) continue;
      const { text, how } = test;
      if (how === 'equals') addTo(equals, text, place);
      else {
        const key = `${how} ${text}`;
        const same = sought.get(key) ?? { text, how, places: [] };
        sought.set(key, same);
        same.places.push(place);
      }
    }
  }
  return { equals, automaton: sought.size === 0 ? null : new TextAutomaton([...sought.values()]) };
}

function addTo(lists: Map<string, number[]>, text: string, place: number): void {
  const list = lists.get(text);
  if (list === undefined) lists.set(text, [place]);
  else list.push(place);
}
