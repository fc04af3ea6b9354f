import fc from 'fast-check';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';

/** Doubles of every magnitude, without what no value of the language is. */
export const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });

/** Text with characters beyond the Basic Multilingual Plane and lone halves of surrogate pairs. */
export const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '0', ':', ';', '"', '\u{e000}', '\u{ffff}', '😀', '𐀀', '\ud83d', '\ude00'), maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

const scalars: fc.Arbitrary<Value> = fc.oneof(
  fc.constantFrom<Value>(null, true, false, 0, -0, 1, 5, -1, '', '5', 'a', 'n5;', '__proto__'),
  numbers,
  fc.maxSafeInteger(),
  texts,
  fc.constantFrom(0, 5, 1000, 0.001, -1.5).map((ms) => new Duration(ms)),
  fc.constantFrom(0, 5, 1000, 1.7e12, 1_700_000_000_000.123).map((ms) => new Timestamp(ms)),
);

/** Values of every kind, a few levels deep, from a small stock, so that equal ones come up. */
export const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', '__proto__', '1:'), tie('value')), { maxLength: 3 })
      .map((entries): Value => new Map(entries)),
  ),
})).value;

/** Nested deeper than any recursion could follow. */
export function deepArray(): Value {
  let value: Value = [];
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  return value;
}

/** A hundred levels that hold 2^100 values, though few arrays. */
export function wideArray(): Value {
  let value: Value = [1];
  for (let depth = 0; depth < 100; depth++) value = [value, value];
  return value;
}
