import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EvaluationError } from '../../../shared/events/evaluation-error.ts';
import { compareText, compareValues, equalValues, keyOf } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { deepArray, texts, values, wideArray } from './values.ts';

describe('strings', () => {
  test('order by code point, so the BMP comes before everything beyond it', () => {
    expect(compareText('\u{ffff}', '😀')).toBeLessThan(0);
    expect('\u{ffff}' < '😀').toBe(false);
  });

  test('with half of a pair order as the code points that they have', () => {
    const [pair, halfAndMore] = ['\ud83d\ude00', '\ud83d\ue000'];
    expect(compareText(pair, halfAndMore)).toBeGreaterThan(0);
    expect(compareText(halfAndMore, pair)).toBeLessThan(0);
    expect(compareText('\ud83da', '\ud83db')).toBeLessThan(0);
  });

  test('order as their lists of code points do', () => {
    const naive = (a: string, b: string): number => {
      const [left, right] = [a, b].map((text) => [...text].map((character) => character.codePointAt(0) ?? 0));
      for (const [at, point] of (left ?? []).entries()) {
        const other = right?.[at];
        if (other === undefined) return 1;
        if (point !== other) return Math.sign(point - other);
      }
      return Math.sign((left?.length ?? 0) - (right?.length ?? 0));
    };
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(naive(a, b));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('compareValues', () => {
  test('orders values of one kind alone', () => {
    expect(compareValues(7, 7.5)).toBe(-1);
    expect(compareValues(new Timestamp(1), new Timestamp(2))).toBe(-1);
    expect(compareValues(new Duration(2), new Duration(1))).toBe(1);
    expect(compareValues(false, true)).toBe(-1);
    for (const [a, b] of [
      [1, '1'],
      [1, true],
      [1, new Duration(1)],
      [new Timestamp(1), new Duration(1)],
      [[1], [1]],
      [new Map(), new Map()],
      [null, null],
      [null, 1],
    ] as [Value, Value][]) {
      expect(compareValues(a, b)).toBeUndefined();
    }
  });

  test('is a total order within a kind, and agrees with equality', () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const [ab, ba, bc, ac] = [compareValues(a, b), compareValues(b, a), compareValues(b, c), compareValues(a, c)];
        expect(ab === undefined).toBe(ba === undefined);
        if (ab === undefined) return;
        expect(Math.sign(ab) + Math.sign(ba ?? Number.NaN)).toBe(0);
        expect(ab === 0).toBe(equalValues(a, b));
        if (bc !== undefined && ab <= 0 && bc <= 0) expect(ac).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('equalValues', () => {
  test.each<[Value, Value, boolean]>([
    [7, 7.0, true],
    [0, -0, true],
    [1, '1', false],
    [new Duration(5), 5, false],
    [new Timestamp(5), new Timestamp(5), true],
    [new Timestamp(5), new Duration(5), false],
    [[1, [null]], [1, [null]], true],
    [[1], [1, 2], false],
    [[], new Map(), false],
    [null, [], false],
    [new Map([['a', 1]]), new Map<string, Value>([['a', null]]), false],
    [new Map([['a', null]]), new Map([['b', null]]), false],
  ])('%j and %j: %s', (a, b, equal) => {
    expect(equalValues(a, b)).toBe(equal);
    expect(equalValues(b, a)).toBe(equal);
  });

  test('does not look at the order of keys', () => {
    const entries: [string, Value][] = [
      ['a', 1],
      ['b', 2],
    ];
    expect(equalValues(new Map(entries), new Map(entries.toReversed()))).toBe(true);
  });
});

describe('keyOf', () => {
  const lists = fc.array(values, { maxLength: 3 });
  const same = (a: readonly Value[], b: readonly Value[]): boolean =>
    a.length === b.length && a.every((value, at) => equalValues(value, b[at] ?? null));

  test('is equal for equal lists and for no others', () => {
    fc.assert(
      fc.property(lists, lists, (a, b) => {
        expect(keyOf(a) === keyOf(b)).toBe(same(a, b));
      }),
      { numRuns: 3000 },
    );
  });

  test('is equal for a copy with its keys in another order', () => {
    const copy = (value: Value): Value => {
      if (Array.isArray(value)) return value.map(copy);
      if (value instanceof Map) return new Map([...value].reverse().map(([key, item]) => [key, copy(item)]));
      return value;
    };
    fc.assert(
      fc.property(lists, (list) => {
        expect(keyOf(list.map(copy))).toBe(keyOf(list));
      }),
    );
  });

  test('keeps apart what looks alike', () => {
    const alike: Value[][] = [
      ['5'],
      [5],
      [new Duration(5)],
      [new Timestamp(5)],
      [[5]],
      [true],
      ['true'],
      [null],
      ['null'],
      ['s'],
      [],
      [null, null],
      ['a', 'b'],
      ['ab'],
      ['a', '1:b'],
      ['1:a', 'b'],
      [['a', 'b']],
      ['2(s1:as1:b'],
    ];
    expect(new Set(alike.map(keyOf)).size).toBe(alike.length);
  });
});

test('a value too deep or too large is no key and compares with nothing', () => {
  for (const make of [deepArray, wideArray]) {
    expect(() => keyOf([make()])).toThrow(EvaluationError);
    expect(() => equalValues(make(), make())).toThrow(EvaluationError);
  }
});
