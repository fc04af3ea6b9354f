import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExactSum } from '../../../../../shared/language/functions/aggregates/exact-sum.ts';
import { EXACT_WIDTH, Slots } from '../../../../../worker/engine/fusion/windows/slots.ts';

const values = fc.oneof(
  fc.integer({ min: -10_000, max: 10_000 }).map((cents) => cents / 100),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -(2 ** 390), max: 2 ** 390 }),
  fc.constantFrom(0, -0, 1e-30, 1e20, -1e20, 3, 2 ** 53 + 2, 1e100, -1e100),
);

test('sums and squares that are added in one go are exact, also when values leave again', () => {
  const steps = fc.array(fc.record({ value: values, slot: fc.nat(2), leaves: fc.boolean() }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (list) => {
      const slots = new Slots(2 * EXACT_WIDTH, 0);
      const expected = [0, 1, 2].map(() => ({ held: [] as number[], sum: new ExactSum(), squares: new ExactSum() }));
      for (const _ of expected) slots.allot();
      for (const { value, slot, leaves } of list) {
        const own = expected[slot] as (typeof expected)[0];
        const gone = leaves ? own.held.shift() : undefined;
        const given = gone ?? value;
        if (gone === undefined) own.held.push(value);
        const sign = gone === undefined ? 1 : -1;
        const base = slot * slots.width;
        slots.moments(base, base + EXACT_WIDTH, given, sign);
        own.sum.add(sign * given);
        own.squares.addProduct(sign * given, given);
      }
      for (const [slot, { sum, squares }] of expected.entries()) {
        const base = slot * slots.width;
        expect(slots.exact(base).total()).toBe(sum.total());
        expect(slots.exact(base + EXACT_WIDTH).total()).toBe(squares.total());
      }
    }),
    { numRuns: 500 },
  );
});

test('a square too large to count makes the sum of squares infinite until the slot is cleared', () => {
  const slots = new Slots(2 * EXACT_WIDTH, 0);
  slots.allot();
  for (const value of [3, 1e121, 4]) slots.moments(0, EXACT_WIDTH, value, 1);
  expect(slots.deviation(3, 0, EXACT_WIDTH)).toBeNull();
  slots.clear(0);
  slots.clear(EXACT_WIDTH);
  for (const value of [3, 4, 5]) slots.moments(0, EXACT_WIDTH, value, 1);
  expect(slots.deviation(3, 0, EXACT_WIDTH)).toBe(1);
});
