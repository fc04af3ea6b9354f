import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Duration, kindOf, Timestamp, type Value } from '../../../shared/events/value.ts';
import { valueLimits } from '../../../shared/events/value-limits.ts';
import * as operators from '../../../shared/language/functions/arithmetic.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import { numbers, texts, values } from './values.ts';

const { add, subtract, multiply, divide, modulo, power, negate } = operators;
const span = (ms: number): Duration => new Duration(ms);
const at = (ms: number): Timestamp => new Timestamp(ms);

const binary = {
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  bitAnd: operators.bitAnd,
  bitOr: operators.bitOr,
  bitXor: operators.bitXor,
  shiftLeft: operators.shiftLeft,
  shiftRight: operators.shiftRight,
  equal: operators.equal,
  notEqual: operators.notEqual,
  less: operators.less,
  lessOrEqual: operators.lessOrEqual,
  greater: operators.greater,
  greaterOrEqual: operators.greaterOrEqual,
  isIn: operators.isIn,
  index: operators.index,
} as const satisfies Record<string, (a: Value, b: Value) => Value>;

describe('every operator', () => {
  test.each(Object.entries(binary))('%s of a null is null', (_, operator) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(operator(null, value)).toBeNull();
        expect(operator(value, null)).toBeNull();
      }),
    );
  });

  test.each(Object.entries(binary))('%s gives a value or a failure that names both kinds', (_, operator) => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        try {
          const result = operator(a, b);
          expect(result).not.toBeUndefined();
          if (typeof result === 'number') expect(Number.isFinite(result) && !Object.is(result, -0)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(EvaluationError);
          expect(String(error)).toContain(kindOf(a));
          expect(String(error)).toContain(kindOf(b));
        }
      }),
    );
  });
});

describe('arithmetic', () => {
  test.each<[string, Value, Value]>([
    ['7 / 2', divide(7, 2), 3.5],
    ['1 / 0', divide(1, 0), null],
    ['0 / 0', divide(0, 0), null],
    ['-7 % 3', modulo(-7, 3), -1],
    ['7 % -3', modulo(7, -3), 1],
    ['-4 % 2', modulo(-4, 2), 0],
    ['5 % 0', modulo(5, 0), null],
    ['2 ** 10', power(2, 10), 1024],
    ['(-8) ** 0.5', power(-8, 0.5), null],
    ['10 ** 400', power(10, 400), null],
    ['1e308 * 10', multiply(1e308, 10), null],
    ['0 * -1', multiply(0, -1), 0],
    ['-0', negate(0), 0],
    ['"a" + "b"', add('a', 'b'), 'ab'],
    ['5m + 30s', add(span(300_000), span(30_000)), span(330_000)],
    ['5m - 10m', subtract(span(300_000), span(600_000)), span(-300_000)],
    ['-(5m)', negate(span(300_000)), span(-300_000)],
    ['5m * 2', multiply(span(300_000), 2), span(600_000)],
    ['2 * 5m', multiply(2, span(300_000)), span(600_000)],
    ['5m / 2', divide(span(300_000), 2), span(150_000)],
    ['5m / 0', divide(span(300_000), 0), null],
    ['5m / 2m', divide(span(300_000), span(120_000)), 2.5],
    ['5m / 0s', divide(span(300_000), span(0)), null],
    ['5m % 2m', modulo(span(300_000), span(120_000)), span(60_000)],
    ['t + 1s', add(at(5), span(1000)), at(1005)],
    ['1s + t', add(span(1000), at(5)), at(1005)],
    ['t - 1s', subtract(at(5), span(1000)), at(-995)],
    ['t - t', subtract(at(5), at(7)), span(-2)],
    ['the last time + 1d', add(at(8.64e15), span(86_400_000)), null],
  ])('%s', (_, result, expected) => {
    expect(result).toEqual(expected);
  });

  test.each<[() => Value, string]>([
    [() => add('a', 1), 'cannot add str and int'],
    [() => add(at(0), at(0)), 'cannot add timestamp and timestamp'],
    [() => add([1], [2]), 'cannot add array and array'],
    [() => subtract(span(0), at(0)), 'cannot subtract timestamp from duration'],
    [() => subtract(span(0), 1), 'cannot subtract int from duration'],
    [() => multiply('a', 2), 'cannot multiply str by int'],
    [() => multiply(span(1), span(1)), 'cannot multiply duration by duration'],
    [() => divide(1.5, span(1)), 'cannot divide float by duration'],
    [() => modulo(true, 2), 'cannot take bool modulo int'],
    [() => power('a', 2), 'cannot raise str to the power of int'],
    [() => negate('a'), 'cannot negate str'],
    [() => operators.bitNot('a'), 'cannot apply ~ to str'],
    [() => operators.bitAnd(1, 'a'), 'cannot apply & to int and str'],
    [() => operators.isIn(1, 'a1'), 'cannot look for int in str'],
    [() => operators.index(5, 0), 'cannot index int by int'],
    [() => operators.index([1], 'a'), 'cannot index array by str'],
    [() => operators.index([1], 0.5), 'cannot index array by float'],
    [() => operators.field('a', 'b'), 'cannot read field b of str'],
    [() => operators.slice(5, 0, 1), 'cannot slice int'],
    [() => operators.slice([1], 0.5, 1), 'cannot slice by float'],
    [() => operators.range(0.5, 2, false), 'cannot make a range of float and int'],
    [() => operators.range(0, 1e9, false), 'an array may have at most 1000000 items'],
  ])('a failure of %s says %s', (fail, message) => {
    expect(fail).toThrow(new EvaluationError(message));
  });

  test('a time and back differs by nothing, to the microsecond', () => {
    const micros = fc.integer({ min: -1e15, max: 1e15 }).map((us) => at(us / 1000));
    const spans = fc.integer({ min: -1e15, max: 1e15 }).map((us) => span(us / 1000));
    fc.assert(
      fc.property(micros, spans, (time, length) => {
        const there = add(time, length);
        expect(subtract(there, length)).toEqual(time);
        expect(subtract(there, time)).toEqual(length);
      }),
    );
  });

  test('strings grow to a limit, not to the end of memory', () => {
    const half = 'x'.repeat(valueLimits.textLengthMax / 2);
    expect(add(half, half)).toHaveLength(valueLimits.textLengthMax);
    expect(() => add(half, `${half}x`)).toThrow(EvaluationError);
  });
});

describe('bit operators', () => {
  const integers = fc.oneof(
    fc.maxSafeInteger(),
    fc.integer(),
    fc.constantFrom(0, -1, 2 ** 32, -(2 ** 32), 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 31),
  );
  const safe = (exact: bigint): number | null => (Number.isSafeInteger(Number(exact)) ? Number(exact) : null);

  test('agree with exact integers', () => {
    fc.assert(
      fc.property(integers, integers, (a, b) => {
        const [x, y] = [BigInt(a), BigInt(b)];
        expect(operators.bitAnd(a, b)).toBe(safe(x & y));
        expect(operators.bitOr(a, b)).toBe(safe(x | y));
        expect(operators.bitXor(a, b)).toBe(safe(x ^ y));
        expect(operators.bitNot(a)).toBe(safe(~x));
      }),
      { numRuns: 2000 },
    );
  });

  test('shift as exact integers do', () => {
    fc.assert(
      fc.property(integers, fc.nat(80), (a, distance) => {
        expect(operators.shiftLeft(a, distance)).toBe(safe(BigInt(a) << BigInt(distance)));
        expect(operators.shiftRight(a, distance)).toBe(safe(BigInt(a) >> BigInt(distance)));
      }),
      { numRuns: 2000 },
    );
  });

  test('are null outside 53 bits, of fractions, and for negative distances', () => {
    expect(operators.bitOr(2 ** 53, 1)).toBeNull();
    expect(operators.bitAnd(1.5, 1)).toBeNull();
    expect(operators.bitNot(0.5)).toBeNull();
    expect(operators.shiftLeft(1, -1)).toBeNull();
    expect(operators.shiftRight(1, -1)).toBeNull();
    expect(operators.shiftLeft(1, 1e300)).toBeNull();
    expect(operators.shiftLeft(0, 5000)).toBe(0);
    expect(operators.shiftRight(-5, 5000)).toBe(-1);
  });
});

describe('comparison', () => {
  const { equal, notEqual, less, lessOrEqual, greater, greaterOrEqual } = operators;

  test('mixes int and float, and takes a duration next to a number as milliseconds', () => {
    expect(equal(7, 7.0)).toBe(true);
    expect(equal(span(5000), 5000)).toBe(true);
    expect(notEqual(5000, span(5000))).toBe(false);
    expect(less(4999, span(5000))).toBe(true);
    expect(greater(span(5000), 4999.5)).toBe(true);
    expect(greaterOrEqual(span(5000), span(5000))).toBe(true);
  });

  test('of different kinds is null in order and false in equality', () => {
    expect(equal('5', 5)).toBe(false);
    expect(notEqual('5', 5)).toBe(true);
    expect(equal(at(5), 5)).toBe(false);
    expect(less('5', 6)).toBeNull();
    expect(lessOrEqual(at(5), 6)).toBeNull();
    expect(greater([1], [0])).toBeNull();
  });

  test('is consistent: one of <, ==, > holds wherever there is an order', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const results = [less(a, b), equal(a, b), greater(a, b)];
        if (results[0] === null) {
          expect(results[2]).toBeNull();
          return;
        }
        expect(results.filter(Boolean)).toHaveLength(1);
        expect(lessOrEqual(a, b)).toBe(!results[2]);
        expect(greaterOrEqual(a, b)).toBe(!results[0]);
        expect(notEqual(a, b)).toBe(!results[1]);
      }),
    );
  });
});

describe('access', () => {
  const map = new Map<string, Value>([
    ['a', 1],
    ['__proto__', 2],
    ['n', null],
  ]);

  test('in looks for an item, a key, a part', () => {
    expect(operators.isIn(2, [1, 2.0])).toBe(true);
    expect(operators.isIn('2', [1, 2])).toBe(false);
    expect(operators.isIn([1], [[1]])).toBe(true);
    expect(operators.isIn(span(5), [5])).toBe(true);
    expect(operators.isIn('a', map)).toBe(true);
    expect(operators.isIn('toString', map)).toBe(false);
    expect(operators.isIn(1, map)).toBe(false);
    expect(operators.isIn('b', 'abc')).toBe(true);
    expect(operators.isIn('x', [null])).toBe(false);
  });

  test('an index counts from either end, and there is nothing beyond', () => {
    expect(operators.index([1, 2, 3], -1)).toBe(3);
    expect(operators.index([1, 2, 3], -4)).toBeNull();
    expect(operators.index([1, 2, 3], 3)).toBeNull();
    expect(operators.index('a😀b', 1)).toBe('😀');
    expect(operators.index('a😀b', -1)).toBe('b');
    expect(operators.index('ab', 5)).toBeNull();
    expect(operators.index(map, '__proto__')).toBe(2);
    expect(operators.index(map, 'constructor')).toBeNull();
    expect(operators.field(map, 'a')).toBe(1);
    expect(operators.field(map, 'missing')).toBeNull();
    expect(operators.field(null, 'a')).toBeNull();
  });

  test('a slice of a string is that of its code points', () => {
    const bounds = fc.option(fc.integer({ min: -12, max: 12 }), { nil: undefined });
    fc.assert(
      fc.property(texts, bounds, bounds, (text, start, end) => {
        const points = [...text];
        expect(operators.slice(text, start, end)).toBe(points.slice(start, end).join(''));
        expect(operators.slice(points, start, end)).toEqual(points.slice(start, end));
      }),
      { numRuns: 1000 },
    );
  });

  test('a slice with a null bound is null', () => {
    expect(operators.slice('abc', null, undefined)).toBeNull();
    expect(operators.slice([1], 0, null)).toBeNull();
    expect(operators.slice(null, 0, 1)).toBeNull();
  });

  test('a range leaves its end out, or not', () => {
    expect(operators.range(2, 5, false)).toEqual([2, 3, 4]);
    expect(operators.range(2, 5, true)).toEqual([2, 3, 4, 5]);
    expect(operators.range(5, 2, true)).toEqual([]);
    expect(operators.range(-1, 1, false)).toEqual([-1, 0]);
    expect(operators.range(null, 1, false)).toBeNull();
  });
});

test('numbers follow IEEE arithmetic where it is finite', () => {
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      const finite = (x: number): number | null => (Number.isFinite(x) ? x + 0 : null);
      expect(add(a, b)).toBe(finite(a + b));
      expect(divide(a, b)).toBe(finite(a / b));
      expect(power(a, b)).toBe(finite(a ** b));
    }),
  );
});
