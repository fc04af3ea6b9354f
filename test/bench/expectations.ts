import { readFileSync, writeFileSync } from 'node:fs';
import type { Expected, Totals } from './outputs.ts';

/** By number of events, then by scenario. A digest of the bytes is known where the command line was run over them. */
type Table = Record<string, Record<string, Totals & { readonly sha256?: string }>>;

const FILE = new URL('expected.json', import.meta.url);

/** What is known of a scenario with this many events, bytes included. */
export function expectedOf(scenario: string, events: number): Expected | undefined {
  const known = read()[events]?.[scenario];
  return known?.sha256 === undefined ? undefined : { ...known, sha256: known.sha256 };
}

/** The same, without the bytes. */
export function totalsOf(scenario: string, events: number): Totals | undefined {
  return read()[events]?.[scenario];
}

/** Keeps what a run gave; a digest that it did not make stays only with the same totals. */
export function recordExpected(scenario: string, events: number, expected: Totals | Expected): void {
  const table = read();
  const known = table[events]?.[scenario];
  const isSame = known?.outputs === expected.outputs && known.sum === expected.sum;
  table[events] = { ...table[events], [scenario]: isSame ? { ...known, ...expected } : expected };
  const sorted = Object.entries(table).map(([count, known]) => [count, Object.fromEntries(Object.entries(known).sort())]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

function read(): Table {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Table;
}
