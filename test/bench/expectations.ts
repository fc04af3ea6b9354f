import { readFileSync, writeFileSync } from 'node:fs';
import type { Expected } from './outputs.ts';

/** By number of events, then by scenario. */
type Table = Record<string, Record<string, Expected>>;

const FILE = new URL('expected.json', import.meta.url);

/** What is known of a scenario with this many events. */
export function expectedOf(scenario: string, events: number): Expected | undefined {
  return read()[events]?.[scenario];
}

/** Keeps what a run gave. */
export function recordExpected(scenario: string, events: number, expected: Expected): void {
  const table = read();
  table[events] = { ...table[events], [scenario]: expected };
  writeFileSync(FILE, `${JSON.stringify(table, null, 2)}\n`);
}

function read(): Table {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Table;
}
