import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsToJson } from '../../../../shared/events/text.ts';
import { Duration, type Value } from '../../../../shared/events/value.ts';
import { aggregates } from '../../../../shared/language/functions/index.ts';
import type { EngineOptions } from '../../../../worker/engine/create-engine.ts';
import { ways } from '../../../reference/ways.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { start } from '../support/engine-run.ts';

const CALLS = ['max', 'sum', 'median', 'count', 'collect', 'last'] as const;

/** What fresh accumulators of all calls give for what they take of these values: a value that one of them refuses is given to none. */
function taken(values: readonly Value[]): { readonly held: readonly Value[]; readonly result: string } {
  const held: Value[] = [];
  for (const value of values) if (resultOf([...held, value]) !== undefined) held.push(value);
  return { held, result: resultOf(held) ?? '' };
}

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

const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -3, max: 9 }) },
  { weight: 2, arbitrary: fc.constantFrom<Value>(null, 'a', new Duration(5)) },
);
const values = fc.array(value, { maxLength: 30 });
const CALLS_TEXT = CALLS.map((name) => `${name}: ${name}(v)`).join(', ');
const SHOWN = CALLS.map((name) => `${name}: ${name}`).join(', ');

/** Every way of running a program, with the events one second apart. */
function outputsOf(operators: string, given: readonly Value[], engine: EngineOptions): readonly string[] {
  const run = start(planOf(`stream S = E.${operators}.aggregate(${CALLS_TEXT}).emit(${SHOWN})\n`), engine);
  for (const [at, v] of given.entries()) run.push('E', at * 1000, { v });
  run.engine.end();
  return run.outputs.map((output) => output.replace(/^S@\d+ /, ''));
}

describe.each(ways)('%s: an event whose value an aggregate refuses', (_, engine) => {
  test('is not in a sliding window of events, and those of other kinds are once that has none left', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 2, max: 5 }), fc.integer({ min: 1, max: 2 }), (given, size, slide) => {
        const expected: string[] = [];
        let window: readonly Value[] = [];
        let since: number | null = null;
        for (const one of given) {
          const { held, result } = taken([...window.slice(window.length === size ? 1 : 0), one]);
          if (held.length < Math.min(window.length + 1, size)) continue;
          window = held;
          if (since !== null) since++;
          if (window.length < size || (since !== null && since < slide)) continue;
          expected.push(result);
          since = 0;
        }
        expect(outputsOf(`window(${size}, sliding: ${slide})`, given, engine)).toEqual(expected);
      }),
    );
  });

  test.each([['window(10m)'], ['window(session: 1m)'], ['watermark(out_of_order: 1s).window(10m)'], ['window(10m, early: 5m)']])(
    'is in no window of `.%s`',
    (operators) => {
      fc.assert(
        fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), (given) => {
          const { held, result } = taken(given);
          expect(outputsOf(operators, given, engine)).toEqual(held.length === 0 ? [] : [result]);
        }),
      );
    },
  );

  test.each([
    ['window(4s, sliding: 2s)'],
    ['watermark(out_of_order: 1s).window(4s, sliding: 2s)'],
    ['window(4s, sliding: 2s).pattern(all: events => true)'],
  ])('is in none of the windows of `.%s` that it belongs to', (operators) => {
    fc.assert(
      fc.property(values, (given) => {
        const windows = new Map<number, readonly Value[]>();
        given.forEach((one, at) => {
          const ends = [Math.floor(at / 2) * 2 + 2, Math.floor(at / 2) * 2 + 4];
          const isTaken = ends.every((end) => resultOf([...(windows.get(end) ?? []), one]) !== undefined);
          if (isTaken) for (const end of ends) windows.set(end, [...(windows.get(end) ?? []), one]);
        });
        const expected = [...windows].sort(([a], [b]) => a - b).map(([, held]) => resultOf(held));
        expect(outputsOf(operators, given, engine)).toEqual(expected);
      }),
    );
  });
});

test.each([
  ['a sliding count', 'window(3, sliding: 1)'],
  ['a session', 'window(session: 5s)'],
  ['a window that reads in order of time', 'watermark(out_of_order: 1s).window(10s)'],
])('a value that builds before held in %s counts as null for the aggregate that refuses it once the state is loaded', (_, window) => {
  const plan = planOf(`stream S = E.${window}.aggregate(n: count(), s: sum(v), c: collect(v)).emit(n, s)\n`);
  const before = start(plan);
  for (const [at, v] of [1, 777].entries()) before.push('E', at * 1000, { v });
  const saved = JSON.stringify(before.engine.snapshot());
  const held = saved.replace('[true,777,', '[true,"x",');
  expect(held).not.toBe(saved);
  const after = start(plan);
  after.engine.restore(JSON.parse(held));
  after.push('E', 2000, { v: 3 });
  after.engine.end();
  expect(after.outputs).toEqual([expect.stringContaining('{"n":3,"s":4}')]);
});
