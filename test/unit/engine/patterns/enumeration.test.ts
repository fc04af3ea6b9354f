import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { subsetsInOrder } from '../../../../worker/engine/patterns/enumeration.ts';

/** The new element alone, then added to each earlier subset. */
function discovered(count: number): readonly (readonly number[])[] {
  const subsets: number[][] = [];
  for (let element = 0; element < count; element++) subsets.push(...[[], ...subsets].map((earlier) => [...earlier, element]));
  return subsets;
}

test('subsets come in order of discovery, within their bounds, from the newest that must be in them', () => {
  const sizes = fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 8 }), fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 8 }));
  fc.assert(
    fc.property(sizes, ([count, from, smallest, more]) => {
      const largest = smallest + more - 1;
      const found = [...subsetsInOrder(count, from, smallest, largest)].length;
      const lists: number[][] = [];
      for (const bits of subsetsInOrder(count, from, smallest, largest)) lists.push(bits.flatMap((bit, index) => (bit ? [index] : [])));
      const expected = discovered(count).filter(
        (subset) => (subset.at(-1) as number) >= from && subset.length >= smallest && subset.length <= largest,
      );
      expect(lists).toEqual(expected);
      expect(found).toBe(expected.length);
    }),
  );
});

test('subsets of many elements with many members come one at a time', () => {
  const [first] = subsetsInOrder(10_000, 0, 5_000, Number.POSITIVE_INFINITY);
  expect(first?.filter(Boolean)).toHaveLength(5_000);
});
