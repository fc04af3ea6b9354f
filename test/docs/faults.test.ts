import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allFaults } from '../../chaos/process/cluster/nemesis.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/operations/faults.md', root), 'utf8');
const FAULTS = 52;

it('the page about faults names those that are done to clusters, with their numbers', () => {
  const rows = [...page.matchAll(/^\| (.+) \| ([\d, ]+) \|$/gm)];
  const documented = rows.flatMap(([, names = '', numbers = '']) =>
    names.split(' · ').map((name) => `${name.replace(/ \(.*/, '')}: ${numbers}`),
  );
  expect(documented.sort()).toEqual(allFaults.map(({ name, rows: numbers }) => `${name}: ${numbers.join(', ')}`).sort());
});

const rows = [...page.matchAll(/^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]*) ?\|$/gm)].map(([, number, , shownBy = '']) => ({
  number: Number(number),
  shownBy,
}));

it('has a row for each fault of the list, in its order', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: FAULTS }, (_, at) => at + 1));
});

it.each(rows)('names for fault $number what is done to clusters, or tests that there are', ({ number, shownBy }) => {
  const files = [...shownBy.matchAll(/`((?:test|chaos)\/[^`]+)`/g)].map(([, path = '']) => path);
  const tests = files.filter((path) => path.endsWith('.test.ts'));
  expect(files.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  expect(tests.filter((path) => !/^\s*(it|test|describe)\b/m.test(readFileSync(new URL(path, root), 'utf8')))).toEqual([]);
  const isDone = allFaults.some((fault) => (fault.rows as readonly number[]).includes(number)) || number === FAULTS;
  expect(/^runs\b/.test(shownBy)).toBe(isDone);
  expect(isDone || files.length > 0).toBe(true);
});
