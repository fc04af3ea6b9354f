import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ExactSum } from '../../../../../shared/language/functions/aggregates/exact-sum.ts';
import { DyadicSum, savedSum } from '../../../../../worker/engine/patterns/trends/dyadic-sum.ts';

const doubles = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('a dyadic sum', () => {
  test('is the double next to the exact sum', () => {
    fc.assert(
      fc.property(fc.array(doubles), (values) => {
        const exact = new ExactSum();
        let sum = DyadicSum.ZERO;
        for (const value of values) {
          exact.add(value);
          sum = sum.plus(value, 1n);
        }
        expect(sum.over(1n) + 0).toBe(exact.total() + 0);
      }),
    );
  });

  test('does not depend on the order of adding, nor on a save and load in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(doubles, fc.bigInt({ min: 0n, max: 2n ** 80n }))), (summands) => {
        const total = (list: typeof summands): DyadicSum =>
          list.reduce((sum, [value, times]) => savedSum.load(savedSum.save(sum.plus(value, times))), DyadicSum.ZERO);
        expect(total(summands).over(3n)).toBe(total([...summands].reverse()).over(3n));
      }),
    );
  });

  test('divides what no double holds', () => {
    const huge = 2n ** 5000n;
    expect(DyadicSum.ZERO.plus(1.5, huge).over(huge)).toBe(1.5);
    expect(DyadicSum.ZERO.plus(1.5, huge).over(1n)).toBe(Infinity);
    expect(DyadicSum.ZERO.plus(5e-324, 3n).over(1n)).toBe(1.5e-323);
  });
});
