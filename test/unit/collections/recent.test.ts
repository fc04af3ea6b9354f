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
});
