import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Value } from '../../../shared/events/value.ts';
import { ExactSum } from '../../../shared/language/functions/aggregates/exact-sum.ts';
import { aggregates } from '../../../shared/language/functions/index.ts';
import { SumOracle, varianceOracle } from './sum-oracle.ts';

const money = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((cents) => cents / 100);
const anyDouble = fc.double({ noNaN: true, noDefaultInfinity: true });
/** Doubles of every size with few and with many digits, those that cancel each other, those that tip a rounding, and the ends. */
const numbers = fc.oneof(
  { weight: 3, arbitrary: money },
  { weight: 2, arbitrary: fc.double({ min: -1000, max: 1000, noNaN: true }) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.double({ min: -2, max: 2, noNaN: true }), fc.integer({ min: -400, max: 400 })).map(([m, e]) => m * 2 ** e),
  },
  { weight: 1, arbitrary: anyDouble },
  { weight: 1, arbitrary: fc.constantFrom(1, -1, 2 ** 53, -(2 ** 53), 2 ** -53, -(2 ** -53), 2 ** -106, 5e-324, -5e-324, 2 ** -1022, -0) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 969, 2 ** 970, -(2 ** 970), 1.7e308, -1.7e308, 1e16, -1e16, 0.1) },
);
const lists = fc.array(numbers, { maxLength: 40 }).chain((list) =>
  // What cancels what came before, or nearly.
  fc.array(fc.nat(1000), { maxLength: 10 }).map((again) => [...list, ...again.map((at) => -(list[at % Math.max(1, list.length)] ?? 0))]),
);

function exactSum(list: readonly number[]): ExactSum {
  const sum = new ExactSum();
  for (const value of list) sum.add(value);
  return sum;
}

function oracle(list: readonly number[]): number {
  const sum = new SumOracle();
  for (const value of list) sum.add(value);
  return sum.total();
}

const bits = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

describe('an exact sum', () => {
  test('is that of the textbook, to the last bit, after every value', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const [sum, expected] = [new ExactSum(), new SumOracle()];
        for (const value of list) {
          sum.add(value);
          expected.add(value);
          expect(bits(sum.total())).toBe(bits(expected.total()));
          expect(bits(sum.total(7))).toBe(bits(expected.total(7)));
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('is that of many small values, whose rest the three doubles no longer hold', () => {
    const random = fc.infiniteStream(fc.double({ min: -1, max: 1, noNaN: true }));
    fc.assert(
      fc.property(random, fc.integer({ min: 20, max: 160 }), (stream, spread) => {
        const list = Array.from({ length: 400 }, (_, i) => (stream.next().value as number) * 2 ** ((i * 37) % spread));
        expect(exactSum(list).total()).toBe(oracle(list));
      }),
      { numRuns: 50 },
    );
  });

  test('forgets what is taken out again', () => {
    fc.assert(
      fc.property(lists, fc.nat(60), (list, cut) => {
        const sum = exactSum(list);
        for (const value of list.slice(0, cut)) sum.add(-value);
        expect(bits(sum.total())).toBe(bits(oracle(list.slice(cut))));
      }),
      { numRuns: 1000 },
    );
  });

  test('goes on from what it saved, also from what was saved as parts that do not overlap', () => {
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const whole = oracle([...before, ...after]);
        const disjoint = new SumOracle();
        for (const value of before) disjoint.add(value);
        const isHuge = before.some((value) => Math.abs(value) >= 2 ** 970);
        const saved = [new ExactSum(...exactSum(before).save()), ...(isHuge ? [] : [new ExactSum(disjoint.parts)])];
        for (const sum of saved) {
          for (const value of after) sum.add(value);
          expect(bits(sum.total())).toBe(bits(whole));
        }
      }),
    );
  });

  test('takes in another', () => {
    fc.assert(
      fc.property(lists, lists, (left, right) => {
        const sum = exactSum(left);
        sum.addAll(exactSum(right));
        expect(bits(sum.total())).toBe(bits(oracle([...left, ...right])));
      }),
    );
  });
});

describe('a variance', () => {
  const inRange = (value: number): boolean => value === 0 || (Math.abs(value) > 1e-100 && Math.abs(value) < 1e100);
  const near = fc
    .tuple(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.integer({ min: 0, max: 60 }), fc.array(fc.integer({ min: -50, max: 50 })))
    .map(([center, digits, steps]) => steps.map((step) => center + step * Math.abs(center) * 2 ** -digits));
  const samples = fc.oneof(fc.array(numbers), near, fc.array(money)).map((list) => list.filter(inRange));

  test('is that of the textbook, to the last bit: far from zero, of values that are nearly equal, of any size', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const accumulator = aggregates.get('variance')?.create([]);
        list.forEach((value, at) => {
          accumulator?.addOne(value, at, at);
        });
        const expected = varianceOracle(list);
        expect(accumulator?.result({ lengthMs: 1 })).toEqual(Number.isFinite(expected) ? expected : null);
      }),
      { numRuns: 3000 },
    );
  });

  test('of values that are no longer in the window does not show', () => {
    fc.assert(
      fc.property(samples, samples, (gone, left) => {
        const accumulator = aggregates.get('variance')?.createSliding?.([]);
        const all: Value[] = [...gone, ...left];
        all.forEach((value, at) => {
          accumulator?.addOne(value, at, at);
        });
        gone.forEach((value, at) => {
          accumulator?.removeOne(value, at, at);
        });
        const expected = varianceOracle(left);
        expect(accumulator?.result({ lengthMs: 1 })).toEqual(Number.isFinite(expected) ? expected : null);
      }),
      { numRuns: 1000 },
    );
  });

  test('of values that are no longer in the window does not show, however much larger they were', () => {
    const sized = (from: number, to: number): fc.Arbitrary<number[]> =>
      fc.array(
        fc.tuple(fc.double({ min: -2, max: 2, noNaN: true }), fc.integer({ min: from, max: to })).map(([m, e]) => m * 2 ** e),
        {
          minLength: 2,
          maxLength: 30,
        },
      );
    fc.assert(
      fc.property(sized(-40, 300), sized(-40, 0), (gone, left) => {
        const kept = left.filter(inRange);
        const all = [...gone.filter(inRange), ...kept];
        const accumulator = aggregates.get('variance')?.createSliding?.([]);
        all.forEach((value, at) => {
          accumulator?.addOne(value, at, at);
        });
        all.slice(0, all.length - kept.length).forEach((value, at) => {
          accumulator?.removeOne(value, at, at);
        });
        const expected = varianceOracle(kept);
        expect(accumulator?.result({ lengthMs: 1 })).toEqual(Number.isFinite(expected) ? expected : null);
      }),
      { numRuns: 2000 },
    );
  });
});
