import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import {
  EvaluationError,
  type FunctionDescriptor,
  type FunctionValue,
  type Parameter,
} from '../../../shared/language/functions/descriptor.ts';
import { aggregateList, aggregates, functionList, functions, refusedFunctions } from '../../../shared/language/functions/index.ts';
import { ANY, arrayOf, DURATION, FLOAT, INT, printType, STR, type Type } from '../../../shared/language/plan/types.ts';
import { values } from './values.ts';

/** The functions that the language reference names, by its own groups. */
const REFERENCE = `abs sqrt log log10 exp sin cos tan floor ceil round pow min max clamp div sign
  len upper lower trim contains starts_with ends_with split join replace substring regex_match regex_extract to_string format
  first last push pop reverse sort unique keys values get set range sum avg filter map any all flatten
  year month day hour minute second weekday duration_between to_timestamp format_time now
  to_int to_float to_bool type_of is_null coalesce hash geo_distance cidr_match
  concat zip is_int is_float is_string is_bool is_array is_map variance`.split(/\s+/);

const ALIASES = {
  to_upper: 'upper',
  uppercase: 'upper',
  to_lower: 'lower',
  lowercase: 'lower',
  if_null: 'coalesce',
  parse: 'to_timestamp',
};

const AGGREGATES =
  `count sum avg min max stddev variance median percentile p50 p90 p95 p99 first last count_distinct collect top ema rate`.split(' ');

describe('the tables', () => {
  test('hold every function and aggregate of the reference, and nothing else', () => {
    expect(functionList.map(({ name }) => name).sort()).toEqual(REFERENCE.toSorted());
    expect(aggregateList.map(({ name }) => name).sort()).toEqual(AGGREGATES.toSorted());
  });

  test('give one meaning to each name', () => {
    const names = functionList.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(functions.size).toBe(names.length);
    expect(aggregates.size).toBe(aggregateList.length + 1);
    expect(aggregates.get('distinct_count')).toBe(aggregates.get('count_distinct'));
    for (const [alias, name] of Object.entries(ALIASES)) expect(functions.get(alias)).toBe(functions.get(name));
  });

  test('refuse what could not be replayed, with a hint', () => {
    for (const name of ['random', 'uuid']) {
      expect(functions.has(name)).toBe(false);
      expect(refusedFunctions.get(name)).toMatch(/match_id/);
    }
  });

  test('order their parameters so that an argument has one place', () => {
    for (const { name, parameters } of [...functionList, ...aggregateList]) {
      const optionalAt = parameters.findIndex((parameter) => parameter.optional);
      const rest = optionalAt < 0 ? [] : parameters.slice(optionalAt);
      expect(
        rest.every((parameter) => parameter.optional),
        name,
      ).toBe(true);
      expect(
        parameters.slice(0, -1).some((parameter) => parameter.variadic),
        name,
      ).toBe(false);
      expect(new Set(parameters.map((parameter) => parameter.name)).size, name).toBe(parameters.length);
    }
  });
});

describe('the type of a result', () => {
  const typeOf = (name: string, ...args: Type[]): string => printType(functions.get(name)?.result(args) ?? ANY);

  test('follows the types of the arguments', () => {
    expect(typeOf('abs', DURATION)).toBe('duration');
    expect(typeOf('round', FLOAT)).toBe('int');
    expect(typeOf('round', FLOAT, INT)).toBe('float');
    expect(typeOf('min', INT, FLOAT)).toBe('float');
    expect(typeOf('min', arrayOf(STR))).toBe('str');
    expect(typeOf('first', arrayOf(STR))).toBe('str');
    expect(typeOf('map', arrayOf(STR), INT)).toBe('[int]');
    expect(typeOf('push', arrayOf(INT), STR)).toBe('[any]');
    expect(typeOf('sum', arrayOf(DURATION))).toBe('duration');
    expect(typeOf('avg', arrayOf(INT))).toBe('float');
    expect(typeOf('coalesce', { kind: 'null' }, INT)).toBe('int');
    expect(typeOf('get', { kind: 'map', value: STR }, STR, STR)).toBe('str');
    expect(typeOf('set', { kind: 'map', value: INT }, STR, FLOAT)).toBe('{str: float}');
    expect(typeOf('flatten', arrayOf(arrayOf(INT)))).toBe('[int]');
    expect(printType(aggregates.get('avg')?.result([INT]) ?? ANY)).toBe('float');
    expect(printType(aggregates.get('top')?.result([STR, INT]) ?? ANY)).toBe('[str]');
  });

  test('is known for every function, with any arguments that it takes', () => {
    for (const { parameters, result } of [...functionList, ...aggregateList]) {
      expect(printType(result(parameters.map(({ types }) => types[0] ?? ANY)))).not.toBe('');
      expect(printType(result(parameters.map(() => ANY)))).not.toBe('');
    }
  });

  test('of what a lambda gets follows from the array: the item, and its index', () => {
    const lambda = functions.get('filter')?.parameters[1]?.lambda;
    expect(lambda?.parameterTypes([arrayOf(STR)]).map(printType)).toEqual(['str', 'int']);
  });
});

/** Arguments that fit the parameters in number, and often in kind. */
function argumentsOf({ parameters }: FunctionDescriptor): fc.Arbitrary<(Value | FunctionValue)[]> {
  const required = parameters.filter(({ optional, variadic }) => !optional && !variadic).length;
  const most = parameters.at(-1)?.variadic ? parameters.length + 2 : parameters.length;
  const positions = Array.from({ length: most }, (_, at) => argumentOf(parameters[Math.min(at, parameters.length - 1)]));
  return fc.tuple(fc.integer({ min: required, max: most }), ...positions).map(([count, ...args]) => args.slice(0, count));
}

const FITTING: Readonly<Record<string, fc.Arbitrary<Value>>> = {
  int: fc.oneof(fc.integer({ min: -3, max: 6 }), fc.maxSafeInteger()),
  float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  str: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a', '{}', '{', '(', '[a', 'UTC', 'Europe/Berlin', 'yyyy', 'Q', '10.0.0.0/8', '2026-01-31'),
  ),
  bool: fc.boolean(),
  timestamp: fc
    .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -8.64e15, max: 8.64e15 }))
    .map((ms) => new Timestamp(ms)),
  duration: fc.double({ noNaN: true, noDefaultInfinity: true }).map((ms) => new Duration(ms)),
  array: fc.array(values, { maxLength: 4 }),
  map: fc.dictionary(fc.constantFrom('a', 'b'), values).map((object): Value => new Map(Object.entries(object))),
};

function argumentOf(parameter: Parameter | undefined): fc.Arbitrary<Value | FunctionValue> {
  if (parameter?.lambda)
    return fc.constantFrom<FunctionValue>(
      (x) => x ?? null,
      () => true,
      (_, i) => i ?? null,
    );
  const fitting = (parameter?.types ?? []).map((type) => FITTING[type.kind] ?? values);
  return fc.oneof({ weight: 4, arbitrary: fc.oneof(...fitting) }, { weight: 1, arbitrary: values });
}

describe('every function', () => {
  test.each(functionList.map((descriptor) => [descriptor.name, descriptor] as const))(
    '%s gives a value or a failure, the same each time',
    (_, descriptor) => {
      fc.assert(
        fc.property(argumentsOf(descriptor), (args) => {
          const [once, again] = [outcome(descriptor, args), outcome(descriptor, args)];
          expect(again).toEqual(once);
          for (const value of innerValues(once)) {
            expect(value).not.toBeUndefined();
            if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
          }
        }),
        { numRuns: 300 },
      );
    },
  );

  test.each(functionList.filter(({ nulls }) => nulls === 'propagate').map((descriptor) => [descriptor.name, descriptor] as const))(
    '%s of a null is null',
    (_, descriptor) => {
      for (const at of descriptor.parameters.keys()) {
        const args: Value[] = descriptor.parameters.map((_, position) => (position === at ? null : [new Map()]));
        expect(descriptor.evaluate(args, { now: 0 })).toBeNull();
      }
    },
  );
});

function outcome(descriptor: FunctionDescriptor, args: readonly (Value | FunctionValue)[]): Value {
  try {
    return descriptor.evaluate(args, { now: 0 });
  } catch (error) {
    if (error instanceof EvaluationError) return error.message;
    throw error;
  }
}

function innerValues(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value.flatMap(innerValues);
  return value instanceof Map ? [...value.values()].flatMap(innerValues) : [value];
}

describe('a wrong kind', () => {
  test.each<[string, Value[], string]>([
    ['upper', [5], 'upper: expected str, found int'],
    ['abs', ['a'], 'abs: expected number or duration, found str'],
    ['substring', ['abc', 1.5], 'substring: expected int as start, found float'],
    ['len', [5], 'len: expected str, array or map, found int'],
    ['year', [5], 'year: expected timestamp as t, found int'],
    ['filter', [[1], 5], 'filter: expected a function as test, found int'],
    ['format', [5], 'format: expected str as template, found int'],
    ['max', [1, true], 'max: expected number, str, timestamp or duration as others, found bool'],
    ['max', [1, [2]], 'max: expected number, str, timestamp or duration as others, found array'],
    ['concat', ['a', 1], 'concat: expected str or array as others, found int'],
  ])('%s of %j is a failure that says so', (name, args, message) => {
    expect(() => functions.get(name)?.evaluate(args, { now: 0 })).toThrow(new EvaluationError(message));
  });
});
