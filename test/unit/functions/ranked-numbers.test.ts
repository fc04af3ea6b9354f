import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RankedNumbers } from '../../../shared/language/functions/aggregates/ranked-numbers.ts';

/** The same of a sorted list. */
function quantileOf(list: readonly number[], fraction: number): number {
  const sorted = [...list].sort((a, b) => a - b);
  const rank = fraction * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)] ?? Number.NaN, sorted[Math.ceil(rank)] ?? Number.NaN];
  const step = high - low;
  const part = rank - Math.floor(rank);
  return Number.isFinite(step) ? low + step * part : low * (1 - part) + high * part;
}

const number = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
/** A number to add, or how far through those that are there one to take stands; with or without a question behind it. */
const step = fc.record({ add: fc.option(number), at: fc.double({ min: 0, max: 0.999, noNaN: true }), asks: fc.boolean() });

test('numbers that come and go give the quantile of a sorted list, to the bit', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 0.37, 0.5, 0.9, 1), fc.array(step, { maxLength: 200 }), (fraction, steps) => {
      const ranked = new RankedNumbers(fraction);
      const list: number[] = [];
      for (const { add, at, asks } of steps) {
        if (add !== null || list.length === 0) {
          list.push(add ?? 0);
          ranked.add(add ?? 0);
        } else ranked.take(list.splice(Math.floor(at * list.length), 1)[0] as number);
        if (asks) expect(ranked.quantile() + 0).toBe(quantileOf(list, fraction) + 0);
      }
      expect(ranked.size).toBe(list.length);
      expect(ranked.sorted().map((value) => value + 0)).toEqual([...list].sort((a, b) => a - b).map((value) => value + 0));
    }),
    { numRuns: 300 },
  );
});
