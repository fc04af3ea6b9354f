import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listRanges } from '../../../shared/events/reading/list-ranges.ts';

/** The lists that open at a depth, as the value itself shows them. */
function listsAt(value: unknown, depth: number): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth === 0) return Array.isArray(value) ? [value] : [];
  return Object.values(value).flatMap((inner) => listsAt(inner, depth - 1));
}

it('finds the lists of any JSON text by their depth, whatever its strings hold', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('[', ']', '{"', '\\"', '\\', 'ä[', '"}'));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, text, fc.integer(), fc.array(tie('value')), fc.dictionary(text, tie('value'))),
  }));
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 4 }), fc.constantFrom(undefined, 1), (any, depth, spaces) => {
      const bytes = Buffer.from(JSON.stringify(any, undefined, spaces));
      const found = listRanges(bytes, depth).map(({ start, end }) => JSON.parse(bytes.toString('utf8', start, end)));
      expect(found).toEqual(JSON.parse(JSON.stringify(listsAt(any, depth))));
    }),
  );
});

it('comes to an end with whatever is no JSON', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.integer({ min: 0, max: 3 }), (bytes, depth) => {
      for (const { start, end } of listRanges(bytes, depth)) expect(start < end && end <= bytes.length).toBe(true);
    }),
  );
});
