import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OrderedSlots } from '../../../../../worker/engine/fusion/windows/ordered-slots.ts';

/** A slot comes with a start, goes, or goes as its neighbour takes over its start, as when sessions are joined. */
const steps = fc.array(
  fc.record({ kind: fc.constantFrom('add', 'add', 'delete', 'join'), start: fc.integer({ min: 0, max: 500 }), at: fc.nat() }),
  { minLength: 30, maxLength: 100 },
);

test('slots are found by their starts, whatever came, went and was joined', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 10 }), (list, given) => {
      const starts = Array.from({ length: given }, (_, slot) => 1_000 - slot);
      let kept = [...starts.keys()];
      const ordered = new OrderedSlots(kept, (slot) => starts[slot] as number);
      for (const { kind, start, at } of list) {
        const byStart = kept.toSorted((a, b) => (starts[a] as number) - (starts[b] as number));
        const gone = at % Math.max(1, kept.length - 1);
        if (kind === 'add') {
          if (kept.some((slot) => starts[slot] === start)) continue;
          kept = [...kept, starts.push(start) - 1];
          ordered.add(starts.length - 1);
        } else if (kept.length > 1) {
          const slot = byStart[gone] as number;
          if (kind === 'join') starts[byStart[gone + 1] as number] = starts[slot] as number;
          ordered.delete(slot);
          ordered.delete(slot);
          kept = kept.filter((one) => one !== slot);
        }
        const expected = kept.toSorted((a, b) => (starts[a] as number) - (starts[b] as number));
        expect(Array.from({ length: ordered.size }, (_, place) => ordered.at(place))).toEqual(expected);
        expect(ordered.at(ordered.size)).toBe(-1);
        expect(ordered.startingAt(start)).toBe(expected.find((slot) => starts[slot] === start) ?? -1);
        expect(ordered.countTo(start)).toBe(expected.filter((slot) => (starts[slot] as number) <= start).length);
      }
    }),
    { numRuns: 200 },
  );
});
