import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWithin, type RuleBounds } from '../../../../worker/engine/fusion/rules/finder.ts';
import { columnsOf, ruleIndex } from '../../../../worker/engine/fusion/rules/rule-index.ts';
import type { TextTest } from '../../../../worker/engine/fusion/rules/text-test.ts';
import { newCounters } from '../../../../worker/engine/streams/stream-counters.ts';

/** Numbers that lie close together and far apart, so that most parts of the line are empty. */
const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-1.7e308, -5e-324, 0, 5e-324, 1e-3, 1.7e308),
);
const end = (infinite: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 4, arbitrary: number }, { weight: 1, arbitrary: fc.constant(infinite) });
const between = fc
  .record({ low: end(-Infinity), high: end(Infinity), hasLow: fc.boolean(), hasHigh: fc.boolean() })
  .map((range): RuleBounds => ({ kind: 'between', column: 'value', isExact: true, ...range }));
const equals = number.map((value): RuleBounds => ({ kind: 'equals', column: 'value', value, isExact: true }));

describe('an index of rules', () => {
  test('finds the rules whose interval a number lies in, in order, and no others', () => {
    fc.assert(
      fc.property(fc.array(between, { minLength: 1, maxLength: 40 }), fc.array(number), (bounds, values) => {
        expectFound(bounds, [...values, ...endsOf(bounds)]);
      }),
      { numRuns: 300 },
    );
  });

  test('finds what several columns lead to in order of declaration', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(between, equals), { minLength: 2, maxLength: 40 }), fc.array(number), (bounds, values) => {
        fc.pre(new Set(bounds.map(({ kind }) => kind)).size === 2);
        expectFound(bounds, [...values, ...endsOf(bounds)]);
      }),
      { numRuns: 100 },
    );
  });

  test('tries rules one by one that overlap too much to be listed', () => {
    const bounds = Array.from({ length: 3_000 }, (_, at): RuleBounds => {
      return { kind: 'between', column: 'value', low: at, high: Infinity, hasLow: at % 2 === 0, hasHigh: false, isExact: true };
    });
    expectFound(bounds, [-1, 0, 1, 1.5, 2_999, 5_000]);
  });

  test('finds by where a text is kept what it finds by the text, whichever reader keeps it', () => {
    const bounds = ['x', 'y', 'x', 'z'].map((value): RuleBounds => ({ kind: 'equals', column: 'name', value, isExact: true }));
    const index = ruleIndex(bounds, bounds.map(newCounters));
    const [many, few] = [Array.from({ length: 3_000 }, (_, at) => 'wxyz'[at % 4] as string), ['z', 'w']];
    const keepers = [many, few, many].flatMap((texts) => texts.map((text, at) => ({ text, place: { texts, at } })));
    const unkept = { text: 'y', place: { texts: few, at: -1 } };
    const wrong = [...keepers, unkept].filter(({ text, place }) => index.find(text, place) !== index.find(text));
    expect(wrong).toEqual([]);
    expect(new Set(keepers.map(({ text, place }) => index.find(text, place))).size).toBe(4);
  });

  test('finds the rules of which a column has one of the texts, and those whose columns are none', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', 'A', 's', 'ß', 'k', '\u212a', 'é', 'É', '😀'),
      minLength: 1,
      maxLength: 4,
    });
    const column = fc.constantFrom('x', 'y');
    const asked = fc.record({
      column,
      letters: fc.constantFrom('same' as const, 'lower' as const, 'upper' as const),
      how: fc.constantFrom('contains' as const, 'starts' as const, 'ends' as const, 'equals' as const),
      text: letters,
    });
    const rule = fc.tuple(fc.array(asked, { minLength: 1, maxLength: 4 }), fc.array(column, { maxLength: 1 }));
    const long = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 's', 'ß', 'k', '\u212a', 'é', 'É', '😀'), maxLength: 12 });
    const value = fc.oneof({ weight: 6, arbitrary: long }, { weight: 1, arbitrary: fc.constantFrom(null, 7) });
    const rows = fc.array(fc.record({ x: value, y: value }), { minLength: 1 });
    const property = fc.property(fc.array(rule, { minLength: 1, maxLength: 30 }), rows, (rules, given) => {
      const bounds = rules.map(([tests, others]): RuleBounds => {
        const reads = new Set([...tests.map((one) => one.column), ...others]);
        return { kind: 'texts', tests, reads, makes: 1, condition: null, isExact: false };
      });
      const index = ruleIndex(bounds, bounds.map(newCounters));
      for (const row of given) {
        const list = index.find(columnsOf(bounds).map((name) => row[name as 'x' | 'y']));
        const fitting = bounds.flatMap((one, place) => {
          if (one.kind !== 'texts') return [];
          const isAsked = [...one.reads].some((name) => typeof row[name as 'x' | 'y'] === 'number');
          return isAsked || one.tests.some((each) => holds(each, row)) ? [place] : [];
        });
        expect([...index.rules.subarray(index.starts[list], index.starts[list + 1])]).toEqual(fitting);
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('finds texts that are longer than what is looked for of them', () => {
    const long = 'x'.repeat(200);
    const tests = (['contains', 'starts', 'ends', 'equals'] as const).map(
      (how): TextTest => ({ column: 'x', letters: 'same', how, text: `a${long}b` }),
    );
    const bounds = tests.map(
      (one): RuleBounds => ({ kind: 'texts', tests: [one], reads: new Set(['x']), makes: 1, condition: null, isExact: false }),
    );
    const index = ruleIndex(bounds, bounds.map(newCounters));
    const foundIn = (text: string): number[] => {
      const list = index.find([text]);
      return [...index.rules.subarray(index.starts[list], index.starts[list + 1])];
    };
    expect(foundIn(`a${long}b`)).toEqual([0, 1, 2, 3]);
    expect(foundIn(`.a${long}b.`)).toEqual([0]);
    expect(foundIn(`a${long}b.`)).toEqual([0, 1]);
    expect(foundIn('b')).toEqual([]);
    expect(foundIn('z'.repeat(100_000))).toEqual([0, 1, 2, 3]);
  });

  test('counts what came and what was found to the streams, once', () => {
    const counters = [newCounters(), newCounters()];
    const bounds = [0, 5].map((low): RuleBounds => {
      return { kind: 'between', column: 'value', low, high: Infinity, hasLow: false, hasHigh: false, isExact: true };
    });
    const index = ruleIndex(bounds, counters);
    for (const value of [1, 6]) index.find(value);
    (index.counts[1] as number)++;
    index.settleCounts();
    index.settleCounts();
    expect(counters.map(({ eventsIn, eventsOut }) => [eventsIn, eventsOut])).toEqual([
      [2, 0],
      [2, 1],
    ]);
  });
});

function expectFound(bounds: readonly RuleBounds[], values: readonly number[]): void {
  const index = ruleIndex(bounds, bounds.map(newCounters));
  const columns = new Set(bounds.map(({ kind }) => kind)).size;
  for (const value of values) {
    const list = index.find(columns === 1 ? value : [value, value]);
    const fitting = bounds.flatMap((one, place) => (fits(one, value) ? place : []));
    expect([...index.rules.subarray(index.starts[list], index.starts[list + 1])]).toEqual(fitting);
  }
}

function fits(one: RuleBounds, value: number): boolean {
  return one.kind === 'equals' ? one.value === value : one.kind === 'between' && isWithin(value, one);
}

function holds({ column, letters, how, text }: TextTest, row: Readonly<Record<string, unknown>>): boolean {
  const value = row[column];
  if (value === null) return false;
  const given = letters === 'lower' ? String(value).toLowerCase() : letters === 'upper' ? String(value).toUpperCase() : String(value);
  if (how === 'equals') return given === text;
  if (how === 'contains') return given.includes(text);
  return how === 'starts' ? given.startsWith(text) : given.endsWith(text);
}

function endsOf(bounds: readonly RuleBounds[]): number[] {
  const ends = bounds.flatMap((one) => (one.kind === 'equals' ? [one.value as number] : one.kind === 'between' ? [one.low, one.high] : []));
  return ends.filter(Number.isFinite);
}
