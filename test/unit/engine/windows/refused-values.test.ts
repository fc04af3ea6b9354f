import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldsToJson } from '../../../../shared/events/text.ts';
import { Duration, type Value } from '../../../../shared/events/value.ts';
import { aggregates } from '../../../../shared/language/functions/index.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { start } from '../support/engine-run.ts';

const CALLS = ['max', 'sum', 'median', 'count', 'collect', 'last'] as const;

/** What a fresh accumulator of each call gives; undefined when one of them refuses a value. */
function resultOf(held: readonly Value[]): string | undefined {
  const fields = new Map<string, Value>();
  try {
    for (const name of CALLS) {
      const accumulator = aggregates.get(name)?.create([]);
      held.forEach((value, at) => {
        accumulator?.add([value], at, at);
      });
      fields.set(name, accumulator?.result({ lengthMs: 0 }) ?? null);
    }
  } catch {
    return undefined;
  }
  return fieldsToJson(fields);
}

test('a sliding window has no result while it holds a value that an aggregate refuses, and goes on when that has left', () => {
  const value = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -3, max: 9 }) },
    { weight: 1, arbitrary: fc.constantFrom<Value>(null, 'a', new Duration(5)) },
  );
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 30 }),
      fc.integer({ min: 2, max: 5 }),
      fc.integer({ min: 1, max: 2 }),
      (values, size, slide) => {
        const calls = CALLS.map((name) => `${name}: ${name}(v)`).join(', ');
        const shown = CALLS.map((name) => `${name}: ${name}`).join(', ');
        const run = start(planOf(`stream S = E.window(${size}, sliding: ${slide}).aggregate(${calls}).emit(${shown})\n`));
        for (const [at, v] of values.entries()) run.push('E', at, { v });
        const expected: string[] = [];
        for (let end = size; end <= values.length; end += slide) {
          const result = resultOf(values.slice(end - size, end));
          if (result !== undefined) expected.push(`S@${end - 1} ${result}`);
        }
        expect(run.outputs).toEqual(expected);
      },
    ),
  );
});
