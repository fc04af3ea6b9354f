import { limits } from '../../../../shared/limits.ts';
import type { Finder, PlacedRule, RuleBounds } from './finder.ts';
import { RowTexts } from './row-texts.ts';
import { WrittenList } from './rule-lists.ts';
import { type SoughtText, TextAutomaton } from './text-automaton.ts';
import { type Holds, holdsBy, type TextCondition } from './text-condition.ts';
import type { TextTest } from './text-test.ts';

/** Longer texts are not searched: their rules are asked. */
const TEXT_MAX = 65_536;

type PlacedTexts = Extract<RuleBounds, { kind: 'texts' }> & { readonly place: number };

/** A rule whose condition is decided here, where all of these columns are texts. */
interface DecidedRule {
  readonly columns: readonly number[];
  readonly condition: TextCondition;
  /** Made when one of its texts is first found. */
  holds: Holds | null;
}

/** What is looked for in the letters of a column. */
interface Search {
  /** The text as it came, and in these letters. */
  readonly raw: () => string;
  readonly read: () => string;
  readonly isRaw: boolean;
  readonly equals: ReadonlyMap<string, readonly number[]>;
  /** A text that is longer is none of them: in other letters no text gets shorter. */
  readonly equalsLengthMax: number;
  readonly automaton: TextAutomaton | null;
}

interface SearchedColumn {
  readonly searches: readonly Search[];
  /** The rules that read it. */
  readonly readers: readonly number[];
}

/** By rules: they are asked for again and again while a program is loaded. */
const knownColumns = new WeakMap<readonly PlacedRule[], readonly string[]>();

/** The columns that rules by texts read, in the order in which their values are handed in. */
export function textColumnsOf(rules: readonly PlacedRule[]): readonly string[] {
  const columns = knownColumns.get(rules) ?? foundColumns(rules);
  knownColumns.set(rules, columns);
  return columns;
}

function foundColumns(rules: readonly PlacedRule[]): readonly string[] {
  const columns = new Set<string>();
  for (const { bounds } of rules) {
    if (bounds.kind !== 'texts') continue;
    for (const column of bounds.reads) columns.add(column);
    for (const column of bounds.condition?.columns ?? []) columns.add(column);
  }
  return [...columns];
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
  const columns = searchedColumns(names, texts, row);
  const decided = decidedRules(texts, names);
  const readerOf = (column: string, letters: TextTest['letters']): (() => string) => row.reader(column, letters);
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
      if (!isAsked) {
        one.holds ??= holdsBy(one.condition, readerOf);
        if (!one.holds()) return;
      }
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
function decidedRules(rules: readonly PlacedTexts[], columns: readonly string[]): readonly (DecidedRule | undefined)[] {
  const decided: (DecidedRule | undefined)[] = [];
  for (const { place, condition } of rules) {
    if (condition === null) continue;
    decided[place] = { columns: Array.from(condition.columns, (column) => columns.indexOf(column)), condition, holds: null };
  }
  return decided;
}

/** Most texts are searched as they came: they are made in other letters where something is found, or where they are not ASCII. */
function searchIn({ raw, read, isRaw, equals, equalsLengthMax, automaton }: Search, found: (place: number) => void): void {
  const text = raw();
  if (text.length <= equalsLengthMax) for (const place of equals.get(read()) ?? []) found(place);
  if (automaton !== null && !automaton.search(text, found, isRaw)) automaton.search(read(), found, false);
}

function textsOf(rules: readonly PlacedRule[]): readonly PlacedTexts[] {
  return rules.flatMap(({ place, bounds }) => (bounds.kind === 'texts' ? [{ place, ...bounds }] : []));
}

/** What is looked for in one form of the letters of a column: the texts that it may be, and those that it may have. */
interface SoughtTexts {
  readonly equals: Map<string, number[]>;
  readonly parts: Map<string, SoughtText & { readonly places: number[] }>;
}

function searchedColumns(names: readonly string[], rules: readonly PlacedTexts[], row: RowTexts): readonly SearchedColumn[] {
  const sought = new Map(names.map((column) => [column, new Map<TextTest['letters'], SoughtTexts>()]));
  for (const { place, tests } of rules) {
    for (const test of tests) addTest(test, place, sought.get(test.column) as Map<TextTest['letters'], SoughtTexts>);
  }
  return names.map((column) => ({
    readers: rules.flatMap(({ place, reads }) => (reads.has(column) ? [place] : [])),
    searches: Array.from(sought.get(column) ?? [], ([letters, { equals, parts }]) => {
      const automaton = parts.size === 0 ? null : new TextAutomaton([...parts.values()], letters);
      const [raw, read] = [row.reader(column, 'same'), row.reader(column, letters)];
      const equalsLengthMax = [...equals.keys()].reduce((most, { length }) => Math.max(most, length), -1);
      return { raw, read, isRaw: letters !== 'same', equals, equalsLengthMax, automaton };
    }),
  }));
}

function addTest({ letters, how, text }: TextTest, place: number, byLetters: Map<TextTest['letters'], SoughtTexts>): void {
  const sought = byLetters.get(letters) ?? { equals: new Map(), parts: new Map() };
  byLetters.set(letters, sought);
  if (how === 'equals') {
    addTo(sought.equals, text, place);
    return;
  }
  const key = `${how} ${text}`;
  const same = sought.parts.get(key);
  if (same === undefined) sought.parts.set(key, { text, how, places: [place] });
  else same.places.push(place);
}

function addTo(lists: Map<string, number[]>, text: string, place: number): void {
  const list = lists.get(text);
  if (list === undefined) lists.set(text, [place]);
  else list.push(place);
}
