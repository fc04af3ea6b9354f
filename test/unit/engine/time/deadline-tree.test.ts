import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeadlineTree } from '../../../../worker/engine/time/deadline-tree.ts';

const times = fc.constantFrom(-Infinity, 1, 2, 3, 4, 5, Infinity);
const changes = fc.array(fc.tuple(fc.nat(40), times), { maxLength: 80 });

test('finds those whose deadline has come, in their order', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 41 }), changes, times, (size, made, now) => {
      const tree = new DeadlineTree(size);
      const deadlines = new Array<number>(size).fill(Infinity);
      for (const [place, deadline] of made) {
        tree.set(place % size, deadline);
        deadlines[place % size] = deadline;
      }
      expect(tree.earliest()).toBe(Math.min(...deadlines));
      const found: number[] = [];
      for (let place = tree.next(0, now); place < size; place = tree.next(place + 1, now)) found.push(place);
      expect(found).toEqual(deadlines.flatMap((deadline, place) => (deadline <= now ? [place] : [])));
    }),
  );
});

test('nobody waits where there is nobody', () => {
  const tree = new DeadlineTree(0);
  expect(tree.earliest()).toBe(Infinity);
  expect(tree.next(0, Infinity)).toBe(0);
});
