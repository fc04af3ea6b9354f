import { limits } from '../../../../shared/limits.ts';
import type { Finder, PlacedRule, TextNeeds, TextTest } from './finder.ts';
import { WrittenList } from './rule-lists.ts';
import { type SoughtText, TextAutomaton } from './text-automaton.ts';

/** Longer texts are not searched: their rules are asked. */
const TEXT_MAX = 65_536;

type PlacedTexts = TextNeeds & { readonly place: number };

/** What is looked for in the letters of a column. */
interface Search {
  readonly letters: TextTest['letters'];
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
  return [...new Set(textsOf(rules).flatMap(({ reads }) => [...reads]))];
}

/**
 * Rules by texts that columns must contain, begin with, end with or be. A null has no text; whatever else is none, or is very long, may
 * make a condition fail, so the rules that read it are asked. `from`: where their columns stand among all values.
 */
export function textFinder(rules: readonly PlacedRule[], from: number): Finder {
  const texts = textsOf(rules);
  const columns = textColumnsOf(rules).map((column) => searchedColumn(column, texts));
  // All texts that one condition makes in other letters stay within what an evaluation may make.
  const makesMax = texts.reduce((most, { makes }) => Math.max(most, makes), 1);
  const lengthMax = Math.min(TEXT_MAX, Math.floor(limits.evaluationWordsMax / makesMax));
  const list = new WrittenList(texts.length);
  const foundIn = new Float64Array(texts.reduce((most, { place }) => Math.max(most, place + 1), 0));
  let row = 0;
  const found = (place: number): void => {
    if (foundIn[place] === row) return;
    foundIn[place] = row;
    list.add(place);
  };
  const listOf = (values: unknown): number => {
    row++;
    list.clear();
    for (let at = 0; at < columns.length; at++) {
      const value = (values as readonly unknown[])[from + at];
      const { searches, readers } = columns[at] as SearchedColumn;
      if (value === null) continue;
      if (typeof value === 'string' && value.length <= lengthMax) for (const search of searches) searchIn(value, search, found);
      else for (const place of readers) found(place);
    }
    if ((list.starts[1] as number) > 1) list.sort();
    return 0;
  };
  return { lists: list, listOf };
}

function searchIn(value: string, { letters, equals, automaton }: Search, found: (place: number) => void): void {
  const text = letters === 'same' ? value : letters === 'lower' ? value.toLowerCase() : value.toUpperCase();
  if (equals.size > 0) for (const place of equals.get(text) ?? []) found(place);
  automaton?.search(text, found);
}

function textsOf(rules: readonly PlacedRule[]): readonly PlacedTexts[] {
  return rules.flatMap(({ place, bounds }) => (bounds.kind === 'texts' ? [{ place, ...bounds }] : []));
}

function searchedColumn(column: string, rules: readonly PlacedTexts[]): SearchedColumn {
  const kinds = new Set(rules.flatMap(({ tests }) => tests.filter((test) => test.column === column).map(({ letters }) => letters)));
  const readers = rules.flatMap(({ place, reads }) => (reads.has(column) ? [place] : []));
  return { readers, searches: Array.from(kinds, (letters) => searchOf(column, letters, rules)) };
}

function searchOf(column: string, letters: TextTest['letters'], rules: readonly PlacedTexts[]): Search {
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
  return { letters, equals, automaton: sought.size === 0 ? null : new TextAutomaton([...sought.values()]) };
}

function addTo(lists: Map<string, number[]>, text: string, place: number): void {
  const list = lists.get(text);
  if (list === undefined) lists.set(text, [place]);
  else list.push(place);
}
