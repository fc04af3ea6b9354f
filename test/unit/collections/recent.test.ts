import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recent } from '../../../shared/collections/recent.ts';

describe('what was set last', () => {
  it('is kept, with the newest value of each key, and never twice as much and more', () => {
    const change = fc.record({ key: fc.nat(30), isSet: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400, size: 'max' }), fc.integer({ min: 1, max: 12 }), (changes, kept) => {
        const recent = new Recent<number, number>(kept);
        /** The last that was set is the last here; undefined when it was deleted since. */
        const model = new Map<number, number | undefined>();
        for (const [value, { key, isSet }] of changes.entries()) {
          if (isSet) {
            model.delete(key);
            model.set(key, value);
            recent.set(key, value);
          } else {
            if (model.has(key)) model.set(key, undefined);
            recent.delete(key);
          }
          const newest = [...model].slice(-kept);
          expect(newest.map(([name]) => recent.get(name))).toEqual(newest.map(([, of]) => of));
          const keys = [...recent.keys()];
          expect(new Set(keys).size).toBe(keys.length);
          expect(keys.length).toBeLessThanOrEqual(2 * kept);
          for (const name of keys) expect([recent.has(name), recent.get(name)]).toEqual([true, model.get(name)]);
          expect(recent.has(key)).toBe(isSet);
        }
      }),
    );
  });
});
