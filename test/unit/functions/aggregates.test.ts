import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeValue, encodeValue } from '../../../shared/events/stored-value.ts';
import { keyOf, toJson, toText } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { type Accumulator, type AggregateDescriptor, EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import { aggregateList, aggregates } from '../../../shared/language/functions/index.ts';
import { values } from './values.ts';

const WINDOW = { lengthMs: 10_000 };

/** Constants for the aggregates that take some. */
const CONSTANTS: Readonly<Record<string, readonly Value[]>> = { percentile: [0.37], top: [3], ema: [4] };

interface Input {
  readonly value: Value;
  readonly time: number;
  readonly order: number;
}

const named = aggregateList.map((aggregate) => [aggregate.name, aggregate] as const);
const constantsOf = ({ name }: AggregateDescriptor): readonly Value[] => CONSTANTS[name] ?? [];
const create = (aggregate: AggregateDescriptor): Accumulator => aggregate.create(constantsOf(aggregate));

/** By either way in. */
function feed(accumulator: Accumulator, inputs: readonly Input[]): Accumulator {
  for (const { value, time, order } of inputs) {
    if (order % 2 === 0) accumulator.add([value], time, order);
    else accumulator.addOne(value, time, order);
  }
  return accumulator;
}

function aggregate(name: string, list: readonly Value[], constants: readonly Value[] = []): Value {
  const accumulator = aggregates.get(name)?.create(constants);
  if (!accumulator) throw new Error(`no aggregate ${name}`);
  return feed(accumulator, inputsOf(list)).result(WINDOW);
}

function inputsOf(list: readonly Value[]): Input[] {
  return list.map((value, order) => ({ value, time: order * 1000, order }));
}

/** Numbers of very different sizes, where plain summation loses most. */
const wild = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(0.1, 0.2, 0.3, 1e16, -1e16, 1e100, -1e100, 1e-20),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
);

/** What every aggregate takes: numbers, durations or nulls; and, for those that take anything, values of all kinds. */
function inputLists({ name }: AggregateDescriptor): fc.Arbitrary<Input[]> {
  const numeric = fc.oneof(
    fc.array(fc.option(wild, { freq: 5 })),
    fc.array(
      fc.option(
        wild.map((ms): Value => new Duration(name === 'variance' ? 0 : ms)),
        { freq: 5 },
      ),
    ),
  );
  const lists = takesAnything(name) ? fc.array(values) : name === 'variance' ? fc.array(fc.option(wild)) : numeric;
  return lists.chain((list) =>
    fc
      .array(fc.nat(5), { minLength: list.length, maxLength: list.length })
      .map((times) => list.map((value, order) => ({ value, time: times[order] ?? 0, order }))),
  );
}

const takesAnything = (name: string): boolean => ['count', 'count_distinct', 'first', 'last', 'collect', 'rate'].includes(name);

describe('every aggregate', () => {
  test.each(named)('%s goes on after a save and a load, through JSON, as if nothing had been', (_, descriptor) => {
    fc.assert(
      fc.property(inputLists(descriptor), fc.nat(10), (inputs, cut) => {
        const whole = feed(create(descriptor), inputs);
        const before = feed(create(descriptor), inputs.slice(0, cut));
        const saved = decodeValue(JSON.parse(JSON.stringify(encodeValue(before.save()))));
        feed(before, inputs.slice(cut));
        const after = feed(descriptor.load(constantsOf(descriptor), saved), inputs.slice(cut));
        expect(toText([after.result(WINDOW)])).toBe(toText([whole.result(WINDOW)]));
        expect(toJson(after.save())).toBe(toJson(before.save()));
      }),
    );
  });

  test.each(named)('%s does not change what it has handed out or saved', (_, descriptor) => {
    fc.assert(
      fc.property(inputLists(descriptor), (inputs) => {
        const accumulator = feed(create(descriptor), inputs);
        const [result, saved] = [accumulator.result(WINDOW), accumulator.save()];
        const [resultText, savedText] = [toText([result]), toJson(saved)];
        feed(accumulator, inputs);
        accumulator.result(WINDOW);
        expect([toText([result]), toJson(saved)]).toEqual([resultText, savedText]);
      }),
    );
  });

  test.each(named.filter(([name]) => name !== 'collect' && name !== 'ema'))('%s does not show the order of arrival', (_, descriptor) => {
    fc.assert(
      fc.property(inputLists(descriptor), fc.infiniteStream(fc.nat()), (inputs, random) => {
        const shuffled = inputs
          .map((input) => ({ input, rank: random.next().value ?? 0 }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ input }) => input);
        const result = feed(create(descriptor), inputs).result(WINDOW);
        expect(keyOf([feed(create(descriptor), shuffled).result(WINDOW)])).toBe(keyOf([result]));
      }),
      { numRuns: 300 },
    );
  });

  test.each(named.filter(([name]) => name !== 'collect' && name !== 'ema'))('%s merges two parts into the whole', (_, descriptor) => {
    fc.assert(
      fc.property(inputLists(descriptor), fc.nat(10), (inputs, cut) => {
        const [left, right] = [feed(create(descriptor), inputs.slice(0, cut)), feed(create(descriptor), inputs.slice(cut))];
        const rightBefore = toJson(right.save());
        expect(left.merge).toBeDefined();
        left.merge?.(right);
        expect(keyOf([left.result(WINDOW)])).toBe(keyOf([feed(create(descriptor), inputs).result(WINDOW)]));
        expect(toJson(right.save())).toBe(rightBefore);
      }),
    );
  });

  const sliding = named.filter(([, { createSliding }]) => createSliding !== undefined);

  test.each(sliding)('%s of what moves through a window is that of what is still there', (_, descriptor) => {
    fc.assert(
      fc.property(inputLists(descriptor), fc.array(fc.nat(3)), (inputs, removals) => {
        const accumulator = descriptor.createSliding?.(constantsOf(descriptor));
        const held: Input[] = [];
        for (const [at, input] of inputs.entries()) {
          accumulator?.addOne(input.value, input.time, input.order);
          held.push(input);
          for (const gone of held.splice(0, removals[at] ?? 0)) accumulator?.removeOne(gone.value, gone.time, gone.order);
          const expected = feed(create(descriptor), held).result(WINDOW);
          expect(toText([accumulator?.result(WINDOW) ?? null])).toBe(toText([expected]));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('without a sliding form are those that only adding again can bring back', () => {
    expect(named.filter(([, { createSliding }]) => createSliding === undefined).map(([name]) => name)).toEqual(['top', 'ema']);
  });

  test('that has been emptied takes numbers where it had durations', () => {
    for (const [name, descriptor] of sliding) {
      if (name === 'variance') continue;
      const accumulator = descriptor.createSliding?.(constantsOf(descriptor));
      accumulator?.addOne(new Duration(1), 0, 0);
      accumulator?.removeOne(new Duration(1), 0, 0);
      accumulator?.addOne(7, 1, 1);
      const expected = feed(create(descriptor), [{ value: 7, time: 1, order: 1 }]).result(WINDOW);
      expect(accumulator?.result(WINDOW), name).toEqual(expected);
    }
  });

  test('whose result follows the order of arrival cannot be merged', () => {
    for (const name of ['collect', 'ema']) expect(create(aggregates.get(name) as AggregateDescriptor).merge).toBeUndefined();
  });

  test.each(named)('%s of nothing, and of nulls alone', (name, descriptor) => {
    const empty: Readonly<Record<string, Value>> = { count: 0, count_distinct: 0, sum: 0, rate: 0, collect: [], top: [] };
    const nothing = empty[name] ?? null;
    expect(create(descriptor).result(WINDOW)).toEqual(nothing);
    expect(feed(create(descriptor), inputsOf([null, null])).result(WINDOW)).toEqual(name === 'rate' ? 0.2 : nothing);
  });

  test.each(named.filter(([name]) => !takesAnything(name)))(
    '%s fails on a value of a wrong kind and stays as it was',
    (name, descriptor) => {
      const accumulator = feed(create(descriptor), inputsOf([1, 2]));
      const saved = toJson(accumulator.save());
      for (const wrong of ['a', true, new Duration(1), [1], new Map(), new Timestamp(0)]) {
        expect(() => accumulator.add([wrong], 0, 3), name).toThrow(EvaluationError);
      }
      expect(toJson(accumulator.save())).toBe(saved);
    },
  );
});

describe('sums', () => {
  /** Integers times 2^-60: doubles whose exact sum BigInt knows. */
  const exactNumbers = fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 700 }))
    .map(([mantissa, shift]) => ({ value: (mantissa / 2 ** 60) * 2 ** shift, scaled: BigInt(mantissa) << BigInt(shift) }));

  test('are the double next to the exact sum', () => {
    fc.assert(
      fc.property(fc.array(exactNumbers), (list) => {
        const exact = list.reduce((sum, { scaled }) => sum + scaled, 0n);
        expect(
          aggregate(
            'sum',
            list.map(({ value }) => value),
          ),
        ).toBe(Number(exact) / 2 ** 60);
      }),
      { numRuns: 500 },
    );
  });

  test.each<[number[], Value]>([
    [[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], 1],
    [[1, 1e100, 1, -1e100], 2],
    [[1e16, 1, 1e-16], 10_000_000_000_000_002],
    [[1e16, 1, -1e-16], 10_000_000_000_000_000],
    [[1e308, 1e308, -1e308], 1e308],
    [[1e308, 1e308, -1e308, -1e308, 3], 3],
    [[1e308, 1e308], null],
    [[-0, -0], 0],
  ])('of %j is %j', (list, expected) => {
    expect(aggregate('sum', list)).toBe(expected);
    expect(aggregate('sum', list.toReversed())).toBe(expected);
  });

  test('the mean does not overflow where the sum does', () => {
    expect(aggregate('avg', [1.5e308, 1.5e308, 1.2e308])).toBe(1.4e308);
  });

  test('sums and means of durations are durations', () => {
    expect(aggregate('sum', [new Duration(1000), null, new Duration(500)])).toEqual(new Duration(1500));
    expect(aggregate('avg', [new Duration(1000), new Duration(500)])).toEqual(new Duration(750));
    expect(() => aggregate('sum', [1, new Duration(1)])).toThrow(new EvaluationError('sum: expected number, found duration'));
    expect(() => aggregate('sum', ['a'])).toThrow(new EvaluationError('sum: expected number or duration, found str'));
  });

  test('numbers and durations do not merge', () => {
    const [numbers, durations] = [[1], [new Duration(1)]].map((list) =>
      feed(create(aggregates.get('sum') as AggregateDescriptor), inputsOf(list)),
    );
    expect(() => durations?.merge?.(numbers as Accumulator)).toThrow(new EvaluationError('sum: expected duration, found number'));
  });
});

describe('variance and deviation', () => {
  test('agree with exact fractions, however far from zero the numbers lie', () => {
    const integers = fc.oneof(
      fc.integer({ min: -1000, max: 1000 }),
      fc.integer({ min: 0, max: 100 }).map((x) => x + 9e15),
      fc.maxSafeInteger(),
    );
    fc.assert(
      fc.property(fc.array(integers, { minLength: 2 }), (list) => {
        const [n, sum, squares] = [BigInt(list.length), exactSum(list, (x) => x), exactSum(list, (x) => x * x)];
        const exact = Number(((n * squares - sum * sum) * 10n ** 20n) / (n * (n - 1n))) / 1e20;
        const variance = Number(aggregate('variance', list));
        expect(Math.abs(variance - exact)).toBeLessThanOrEqual(exact * 1e-15 + 1e-19);
        expect(aggregate('stddev', list)).toBe(Math.sqrt(variance));
      }),
    );
  });

  test('of equal numbers is exactly 0', () => {
    const ordinary = fc.double({ min: -1e100, max: 1e100, noNaN: true }).filter((x) => x === 0 || Math.abs(x) > 1e-100);
    fc.assert(
      fc.property(ordinary, fc.integer({ min: 2, max: 20 }), (x, n) => {
        expect(aggregate('variance', new Array<Value>(n).fill(x))).toBe(0);
      }),
    );
  });

  test('is null of one number, and where the squares overflow', () => {
    expect(aggregate('variance', [5, null])).toBeNull();
    expect(aggregate('stddev', [5])).toBeNull();
    expect(aggregate('variance', [1e200, 1])).toBeNull();
    expect(aggregate('variance', [1, 2, 1e200])).toBeNull();
    const [small, large] = [[1, 2], [1e200]].map((list) => feed(create(aggregates.get('variance') as AggregateDescriptor), inputsOf(list)));
    small?.merge?.(large as Accumulator);
    expect(small?.result(WINDOW)).toBeNull();
  });

  test('of durations: a deviation is a duration, a variance has no unit to give', () => {
    expect(aggregate('stddev', [new Duration(1000), new Duration(3000)])).toEqual(new Duration(Math.SQRT2 * 1000));
    expect(() => aggregate('variance', [new Duration(1000)])).toThrow(new EvaluationError('variance: expected number, found duration'));
  });
});

function exactSum(list: readonly number[], of: (x: bigint) => bigint): bigint {
  return list.reduce((sum, x) => sum + of(BigInt(x)), 0n);
}

describe('quantiles', () => {
  test('interpolate between the neighbours of rank q * (n - 1)', () => {
    const fractions = fc.oneof(fc.constantFrom(0, 0.25, 0.5, 0.9, 1), fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1 }), fractions, (list, q) => {
        const sorted = list.toSorted((a, b) => a - b);
        const rank = q * (list.length - 1);
        const [low = 0, high = 0] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
        expect(aggregate('percentile', list, [q])).toBeCloseTo(low + (high - low) * (rank % 1), 9);
      }),
    );
  });

  test('p50, p90, p95, p99 and median are percentiles', () => {
    fc.assert(
      fc.property(fc.array(wild), (list) => {
        for (const [name, q] of [
          ['median', 0.5],
          ['p50', 0.5],
          ['p90', 0.9],
          ['p95', 0.95],
          ['p99', 0.99],
        ] as const) {
          expect(aggregate(name, list)).toBe(aggregate('percentile', list, [q]));
        }
      }),
    );
  });

  test('lie between their neighbours, from one end of the doubles to the other', () => {
    expect(aggregate('median', [-1.7e308, 1.7e308])).toBe(0);
    expect(Number(aggregate('percentile', [-1.7e308, 1.7e308], [0.75])) / 1e307).toBeCloseTo(8.5);
    expect(aggregate('median', [new Duration(1), new Duration(4)])).toEqual(new Duration(2.5));
  });

  test('a result in between does not disturb the next', () => {
    const accumulator = create(aggregates.get('median') as AggregateDescriptor);
    const results = [5, 1, 3].map((value, order) => {
      accumulator.add([value], 0, order);
      return accumulator.result(WINDOW);
    });
    expect(results).toEqual([5, 3, 3]);
  });
});

describe('first and last', () => {
  test('go by time, then by arrival, and count nulls', () => {
    const inputs: Input[] = [
      { value: 'late', time: 20, order: 0 },
      { value: 'a', time: 10, order: 1 },
      { value: 'b', time: 10, order: 2 },
      { value: null, time: 20, order: 3 },
    ];
    expect(feed(create(aggregates.get('first') as AggregateDescriptor), inputs).result(WINDOW)).toBe('a');
    expect(feed(create(aggregates.get('last') as AggregateDescriptor), inputs).result(WINDOW)).toBeNull();
    expect(feed(create(aggregates.get('last') as AggregateDescriptor), inputs.slice(0, 3)).result(WINDOW)).toBe('late');
  });
});

describe('extremes', () => {
  test('take numbers, strings, times and durations', () => {
    expect(aggregate('min', ['b', 'a', null])).toBe('a');
    expect(aggregate('max', ['\u{ffff}', '😀'])).toBe('😀');
    expect(aggregate('max', [new Timestamp(5), new Timestamp(7)])).toEqual(new Timestamp(7));
    expect(aggregate('min', [new Duration(5), new Duration(-7)])).toEqual(new Duration(-7));
    expect(() => aggregate('max', [1, 'a'])).toThrow(new EvaluationError('max: cannot compare str with int'));
  });

  test('top is the head of the sorted values', () => {
    fc.assert(
      fc.property(fc.array(wild), fc.integer({ min: 1, max: 6 }), (list, n) => {
        const sorted = list.toSorted((a, b) => b - a).slice(0, n);
        expect((aggregate('top', list, [n]) as Value[]).map(toText)).toEqual(sorted.map(toText));
      }),
    );
  });
});

describe('counts', () => {
  test('count counts events, or values that are not null', () => {
    const count = aggregates.get('count')?.create([]);
    count?.add([], 0, 0);
    count?.add([null], 0, 1);
    count?.add([false], 0, 2);
    expect(count?.result(WINDOW)).toBe(2);
  });

  test('count_distinct is the number of different keys', () => {
    fc.assert(
      fc.property(fc.array(values), (list) => {
        const keys = new Set(list.filter((value) => value !== null).map((value) => keyOf([value])));
        expect(aggregate('count_distinct', list)).toBe(keys.size);
      }),
    );
  });

  test('rate divides by the length of the window, and is null of none', () => {
    const rate = feed(create(aggregates.get('rate') as AggregateDescriptor), inputsOf([1, 2, 3]));
    expect(rate.result({ lengthMs: 1500 })).toBe(2);
    expect(rate.result({ lengthMs: 0 })).toBeNull();
  });
});

describe('ema', () => {
  test('starts from the first value and weighs the next by 2 / (n + 1)', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 1 }), fc.integer({ min: 1, max: 20 }), (list, n) => {
        const k = 2 / (n + 1);
        const naive = list.reduce((average, x, at) => (at === 0 ? x : x * k + average * (1 - k)), 0);
        expect(aggregate('ema', list, [n])).toBeCloseTo(naive, 9);
      }),
    );
  });

  test('of period 1 is the last value; of durations it is a duration', () => {
    expect(aggregate('ema', [3, 5, 4], [1])).toBe(4);
    expect(aggregate('ema', [new Duration(10), new Duration(20)], [3])).toEqual(new Duration(15));
  });
});

describe('constants', () => {
  test.each<[string, Value[]]>([
    ['percentile', [-0.1]],
    ['percentile', [1.1]],
    ['percentile', ['0.5']],
    ['percentile', [null]],
    ['top', [0]],
    ['top', [1.5]],
    ['ema', [0]],
    ['ema', [null]],
  ])('%s refuses %j', (name, constants) => {
    const descriptor = aggregates.get(name) as AggregateDescriptor;
    expect(descriptor.checkConstants?.(constants)).toMatch(name);
    expect(() => descriptor.create(constants)).toThrow(EvaluationError);
  });

  test('that fit are taken', () => {
    for (const [name, constants] of Object.entries(CONSTANTS)) {
      expect(aggregates.get(name)?.constantsFrom).toBe(1);
      expect(aggregates.get(name)?.checkConstants?.(constants)).toBeUndefined();
    }
  });
});
