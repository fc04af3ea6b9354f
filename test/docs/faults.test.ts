import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allFaults } from '../../chaos/process/cluster/nemesis.ts';

it('the page about faults names those that are done to clusters, with their numbers', () => {
  const page = readFileSync(new URL('../../docs/operations/faults.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (.+) \| ([\d, ]+) \|$/gm)];
  const documented = rows.flatMap(([, names = '', numbers = '']) =>
    names.split(' · ').map((name) => `${name.replace(/ \(.*/, '')}: ${numbers}`),
  );
  expect(documented.sort()).toEqual(allFaults.map(({ name, rows: numbers }) => `${name}: ${numbers.join(', ')}`).sort());
});
