import { DETECTION_TYPES, type DetectionRule, type DetectionTest } from '../detection.ts';
import type { MakeBound } from './bound.ts';

/** The rules of one event type: what is looked for in each field, and which fields are read. */
interface RulesOfType {
  readonly rules: readonly DetectionRule[];
  readonly fields: readonly string[];
  readonly searches: readonly { readonly field: string; readonly search: Search }[];
}

type Fields = Record<string, string>;
type Search = (text: string, found: (rule: number) => void) => void;

/**
 * Each line by `JSON.parse`, each field in small letters once, one pass over it for all texts of the rules' first groups, then only
 * the rules of which one was found.
 */
export const detectionBound =
  (rules: readonly DetectionRule[]): MakeBound =>
  ({ output }) => {
    const types = new Map(Object.keys(DETECTION_TYPES).map((type) => [type, rulesOf(rules.filter((rule) => rule.type === type))]));
    const seenAt = new Uint32Array(rules.length);
    const low: Fields = {};
    let line = 0;
    return {
      lines: [],
      takeLine(text) {
        const { event_type, timestamp, data } = JSON.parse(text) as { event_type: string; timestamp: number; data: Fields };
        const of = types.get(event_type) as RulesOfType;
        line++;
        for (const field of of.fields) low[field] = String(data[field]).toLowerCase();
        const found: number[] = [];
        const note = (at: number): void => {
          const { id } = of.rules[at] as DetectionRule;
          if (seenAt[id] === line) return;
          seenAt[id] = line;
          found.push(at);
        };
        for (const { field, search } of of.searches) search(low[field] as string, note);
        found.sort((a, b) => a - b);
        for (const at of found) {
          const rule = of.rules[at] as DetectionRule;
          if (!fires(rule, low)) continue;
          output(`Rule${rule.id}`, timestamp, { rule: `Rule ${rule.id}`, number: rule.id, level: 'medium', user: data.User }, rule.id);
        }
      },
    };
  };

function rulesOf(rules: readonly DetectionRule[]): RulesOfType {
  const sought = new Map<string, (readonly [text: string, rule: number])[]>();
  rules.forEach(({ groups: [first] }, at) => {
    for (const { field, text } of first ?? []) sought.set(field, [...(sought.get(field) ?? []), [text, at]]);
  });
  const fields = [...new Set(rules.flatMap((rule) => [...rule.groups.flat(), ...rule.exceptions].map(({ field }) => field)))];
  return { rules, fields, searches: Array.from(sought, ([field, texts]) => ({ field, search: automaton(texts) })) };
}

function fires({ groups, exceptions }: DetectionRule, low: Fields): boolean {
  const holds = (test: DetectionTest): boolean => holdsIn(low[test.field] as string, test);
  return groups.every((group) => group.some(holds)) && !exceptions.some(holds);
}

function holdsIn(value: string, { how, text }: DetectionTest): boolean {
  if (how === 'contains') return value.includes(text);
  if (how === 'equals') return value === text;
  return how === 'starts_with' ? value.startsWith(text) : value.endsWith(text);
}

const LETTERS = 128;

/** Aho and Corasick over ASCII, one row of next states for each state. */
function automaton(texts: readonly (readonly [text: string, rule: number])[]): Search {
  const next: Int32Array[] = [new Int32Array(LETTERS).fill(-1)];
  const ends: number[][] = [[]];
  for (const [text, rule] of texts) {
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      const row = next[state] as Int32Array;
      const code = text.charCodeAt(at) & (LETTERS - 1);
      if ((row[code] as number) < 0) {
        row[code] = next.push(new Int32Array(LETTERS).fill(-1)) - 1;
        ends.push([]);
      }
      state = row[code] as number;
    }
    ends[state]?.push(rule);
  }
  link(next, ends);
  const table = new Int32Array(next.length * LETTERS);
  next.forEach((row, state) => {
    table.set(row, state * LETTERS);
  });
  return (text, found) => {
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      state = table[state * LETTERS + (text.charCodeAt(at) & (LETTERS - 1))] as number;
      const rules = ends[state] as number[];
      for (let i = 0; i < rules.length; i++) found(rules[i] as number);
    }
  };
}

function link(next: readonly Int32Array[], ends: number[][]): void {
  const fail = new Int32Array(next.length);
  const open: number[] = [];
  const root = next[0] as Int32Array;
  for (let code = 0; code < LETTERS; code++) {
    if ((root[code] as number) < 0) root[code] = 0;
    else open.push(root[code] as number);
  }
  for (let at = 0; at < open.length; at++) {
    const state = open[at] as number;
    const [row, back] = [next[state] as Int32Array, next[fail[state] as number] as Int32Array];
    for (let code = 0; code < LETTERS; code++) {
      const to = row[code] as number;
      if (to < 0) row[code] = back[code] as number;
      else {
        fail[to] = back[code] as number;
        ends[to] = [...(ends[to] as number[]), ...(ends[fail[to] as number] as number[])];
        open.push(to);
      }
    }
  }
}
