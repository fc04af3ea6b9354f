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

it('finds the ends of lists of events, plain ones and others', () => {
  const value = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.constantFrom('"]', ']},{"sequence":1', null, true),
    fc.array(fc.integer(), { maxLength: 2 }),
  );
  const event = fc.record({ event_type: fc.string({ minLength: 1 }), fields: fc.dictionary(fc.string(), value) });
  const batches = fc.array(fc.record({ sequence: fc.nat(), events: fc.array(event, { maxLength: 5 }) }), { maxLength: 4 });
  fc.assert(
    fc.property(batches, (all) => {
      const bytes = Buffer.from(JSON.stringify({ batches: all }));
      const found = listRanges(bytes, 3).map(({ start, end }) => bytes.toString('utf8', start, end));
      expect(found).toEqual(all.map(({ events }) => JSON.stringify(events)));
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
