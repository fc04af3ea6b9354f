import { describe, expect, test } from 'vitest';
import type { Value } from '../../../shared/events/value.ts';
import { aggregateList, functionList } from '../../../shared/language/functions/index.ts';
import { ExampleReader } from './example-reader.ts';

const functionExamples = functionList.flatMap(({ name, examples }) => examples.map(({ code, result }) => ({ name, code, result })));

describe('examples of functions', () => {
  test.each(functionExamples)('$code is $result', ({ name, code, result }) => {
    expect(code).toContain(`${name}(`);
    expect(ExampleReader.evaluate(code)).toEqual(ExampleReader.evaluate(result));
  });
});

const aggregateExamples = aggregateList.flatMap((aggregate) => aggregate.examples.map((example) => ({ aggregate, ...example })));

describe('examples of aggregates', () => {
  test.each(aggregateExamples)('$call of $values is $result', ({ aggregate, values, call, result }) => {
    const { takesField, constants } = readCall(call, aggregate.name);
    const accumulator = aggregate.create(constants);
    values.forEach((value, second) => {
      accumulator.add(takesField ? [value] : [], second * 1000, second);
    });
    expect(accumulator.result({ lengthMs: 10_000 })).toEqual(ExampleReader.evaluate(result));
  });
});

/** `name()`, `name(x)` or `name(x, constant)`. */
function readCall(call: string, name: string): { readonly takesField: boolean; readonly constants: readonly Value[] } {
  const match = /^(\w+)\((x)?(?:, ([\d.]+))?\)$/.exec(call);
  expect(match?.[1]).toBe(name);
  return { takesField: match?.[2] !== undefined, constants: match?.[3] === undefined ? [] : [Number(match[3])] };
}
