import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { evidence, type Guarantee } from '../../docs/generate/connector-evidence.ts';
import { faultRows } from '../../docs/generate/fault-evidence.ts';
import { connectors } from '../../shared/language/connectors/table.ts';

/** What the name of a test says that shows it. */
const words: Readonly<Record<Guarantee, RegExp>> = {
  'at most once': /listens|drops|connection is lost|nothing twice/,
  'at least once': /every|each|takes over/,
  'effectively once': /once/,
  'exactly once': /once|nothing twice/,
};

const namesTest = (file: string, test: string): void =>
  expect(readFileSync(join(import.meta.dirname, '..', file), 'utf8')).toContain(`'${test}'`);

describe('the guarantees of connectors', () => {
  it.each(evidence)('$type as $role ($of): $guarantee has a test that shows it', ({ file, test, guarantee }) => {
    namesTest(file, test);
    expect(test).toMatch(words[guarantee]);
  });

  it.each(evidence)('$type as $role ($of): $guarantee is what the type promises', ({ type, role, guarantee }) => {
    const promise = connectors.find(({ name }) => name === type)?.guarantees?.[role];
    expect(promise?.toLowerCase()).toContain(guarantee);
  });

  it('are there for every source and sink that is built, and for no other', () => {
    const ends = connectors.flatMap(({ name, built = [] }) => built.filter((role) => role !== 'enrich').map((role) => `${name} ${role}`));
    expect([...new Set(evidence.map(({ type, role }) => `${type} ${role}`))].sort()).toEqual(ends.sort());
  });
});

describe('the faults that connectors were put through', () => {
  it.each(faultRows)('$type as $role ($of): each has a test that is there, or a reason', ({ shown }) => {
    for (const found of Object.values(shown)) {
      if (typeof found === 'string') expect(found).not.toBe('');
      else namesTest(found.file, found.test);
    }
  });

  it('are there for every end and look-up that is built, and for each kind of them once', () => {
    const built = connectors.flatMap(({ name, built: roles = [] }) => roles.map((role) => `${name} ${role}`));
    expect([...new Set(faultRows.map(({ type, role }) => `${type} ${role}`))].sort()).toEqual(built.sort());
    const kinds = faultRows.map(({ type, role, of }) => `${type} ${role} ${of}`);
    expect(kinds).toEqual([...new Set(kinds)]);
  });
});
