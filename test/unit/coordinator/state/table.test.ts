import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Table } from '../../../../coordinator/state/table.ts';

const key = fc.integer({ min: 0, max: 400 }).map((number) => String(number));
const change = fc.record({ key, value: fc.option(fc.nat(), { nil: undefined, freq: 3 }) });

describe('a table', () => {
  it('holds what a map holds, in the order of its keys, and all tables before it stay', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 600, size: 'max' }), (changes) => {
        const model = new Map<string, number>();
        const before: (readonly [Table<number>, string])[] = [];
        const textOf = (table: Table<number>): string => JSON.stringify([...table.entries()]);
        let table = Table.empty<number>();
        for (const { key: name, value } of changes) {
          before.push([table, textOf(table)]);
          table = value === undefined ? table.delete(name) : table.set(name, value);
          if (value === undefined) model.delete(name);
          else model.set(name, value);
          expect([table.size, table.get(name)]).toEqual([model.size, model.get(name)]);
        }
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        expect([...table.entries()]).toEqual(sorted);
        expect([...table.values()]).toEqual(sorted.map(([, value]) => value));
        expect(table.first()).toBe(sorted[0]?.[1]);
        for (const [old, text] of before.slice(-5)) expect(textOf(old)).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it('takes many at once as it takes them one by one, and is changed by none of it', () => {
    const entries = fc.array(fc.tuple(key, fc.nat()), { maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(entries, fc.array(entries, { maxLength: 5 }), (before, rounds) => {
        let [together, each] = [Table.empty<number>().setAll(before), Table.empty<number>()];
        for (const [name, value] of before) each = each.set(name, value);
        for (const round of rounds) {
          const [old, text] = [together, JSON.stringify([...together.entries()])];
          together = together.setAll(round);
          for (const [name, value] of round) each = each.set(name, value);
          expect([[...together.entries()], together.size]).toEqual([[...each.entries()], each.size]);
          expect(JSON.stringify([...old.entries()])).toBe(text);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives, and leaves out, what is between two keys, whatever is there', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 400, size: 'max' }), key, key, (keys, one, other) => {
        const [first, last] = [one, other].sort() as [string, string];
        const table = keys.reduce((all, name) => all.set(name, name), Table.empty<string>());
        const inside = keys.filter((name) => name >= first && name <= last).sort();
        expect([...table.between(first, last)]).toEqual(inside);
        const rest = table.without(first, last);
        expect([...rest.values()]).toEqual(keys.filter((name) => name < first || name > last).sort());
        expect([rest.size, table.size]).toEqual([keys.length - inside.length, keys.length]);
        expect([...rest.set(one, 'x').values()].length).toBe(rest.size + 1);
      }),
      { numRuns: 60 },
    );
  });

  it('takes keys that objects have by themselves', () => {
    const table = Table.empty<number>().set('__proto__', 1).set('constructor', 2);
    expect([table.get('__proto__'), table.get('constructor'), table.get('toString'), table.has('toString')]).toEqual([
      1,
      2,
      undefined,
      false,
    ]);
  });
});
