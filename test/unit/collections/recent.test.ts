import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recent } from '../../../shared/collections/recent.ts';

describe('what was set last', () => {
  it('is kept with the newest value of each key, and what was set before that is not', () => {
    const change = fc.record({ key: fc.nat(30), isSet: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400, size: 'max' }), fc.integer({ min: 1, max: 12 }), (changes, kept) => {
        const recent = new Recent<number, number>(kept);
        const sets: { readonly key: number; value: number | undefined }[] = [];
        for (const [value, { key, isSet }] of changes.entries()) {
          if (isSet) {
            recent.set(key, value);
            sets.push({ key, value });
          } else {
            recent.delete(key);
            for (const one of sets) if (one.key === key) one.value = undefined;
          }
          const model = new Map(sets.slice(-kept).map((one) => [one.key, one.value]));
          const there = [...model].filter(([, of]) => of !== undefined);
          expect(there.map(([name]) => recent.get(name))).toEqual(there.map(([, of]) => of));
          expect([...recent.keys()].sort()).toEqual(there.map(([name]) => name).sort());
          expect(recent.has(key)).toBe(isSet);
        }
      }),
    );
  });

  it('is the newest of it where it is too large together, and the last one however large that is', () => {
    const change = fc.record({ key: fc.nat(10), size: fc.nat(20), isKnownLater: fc.boolean(), isSet: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 200, size: 'max' }),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(30),
        (changes, kept, sizeMax) => {
          const recent = new Recent<number, number>(kept, sizeMax);
          let sets: { readonly key: number; readonly value: number; size: number }[] = [];
          for (const [value, { key, size, isKnownLater, isSet }] of changes.entries()) {
            sets = sets.filter((one) => one.key !== key);
            if (!isSet) recent.delete(key);
            else {
              recent.set(key, value, isKnownLater ? 0 : size);
              if (isKnownLater) recent.resize(key, size);
              sets.push({ key, value, size });
            }
            const sizeOf = (some: typeof sets): number => some.reduce((sum, one) => sum + one.size, 0);
            while (sets.length > 1 && sizeOf(sets) > sizeMax) sets.shift();
            const there = [...recent.keys()];
            // Of what was set again or deleted, the place counts all the same.
            expect(there).toEqual(sets.slice(sets.length - there.length).map((one) => one.key));
            expect(there.map((one) => recent.get(one))).toEqual(sets.slice(sets.length - there.length).map((one) => one.value));
            expect(sizeOf(sets.slice(sets.length - there.length))).toBeLessThanOrEqual(Math.max(sizeMax, sets.at(-1)?.size ?? 0));
            expect(recent.has(key)).toBe(isSet);
          }
        },
      ),
    );
  });

  it('is forgotten no earlier than it need be', () => {
    const recent = new Recent<string, number>(8, 10);
    for (const [at, key] of ['a', 'b', 'c'].entries()) recent.set(key, at, 5);
    expect([...recent.keys()]).toEqual(['b', 'c']);
    recent.resize('c', 1);
    recent.set('d', 4, 4);
    expect([...recent.keys()]).toEqual(['b', 'c', 'd']);
    recent.set('e', 5, 99);
    expect([...recent.keys()]).toEqual(['e']);
  });

  it('holds nothing more of what was deleted, set again or too large', async () => {
    const recent = new Recent<number, object>(8, 10);
    const held: WeakRef<object>[] = [];
    const set = (key: number): void => {
      const value = {};
      held.push(new WeakRef(value));
      recent.set(key, value, 5);
    };
    for (const key of [0, 1, 1, 2, 3]) set(key);
    recent.delete(3);
    // What a WeakRef was asked for, or made of, stays until the turn of the loop is over.
    await new Promise((resolve) => setImmediate(resolve));
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(held.map((one) => one.deref() !== undefined)).toEqual([false, false, false, true, false]);
    expect([...recent.keys()]).toEqual([2]);
  });
});
