import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsToJson } from '../../../../shared/events/text.ts';
import { Duration, type Value } from '../../../../shared/events/value.ts';
import { aggregates } from '../../../../shared/language/functions/index.ts';
import type { EngineOptions } from '../../../../worker/engine/create-engine.ts';
import { ways } from '../../../reference/ways.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../support/engine-run.ts';

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

/** A program run with these values, of events one second apart. */
function runOf(operators: string, given: readonly Value[], engine: EngineOptions): EngineRun {
  const run = start(planOf(`stream S = E.${operators}.aggregate(${CALLS_TEXT}).emit(${SHOWN})\n`), engine);
  for (const [at, v] of given.entries()) run.push('E', at * 1000, { v });
  run.engine.end();
  return run;
}

function outputsOf(operators: string, given: readonly Value[], engine: EngineOptions): readonly string[] {
  return fieldsOf(runOf(operators, given, engine));
}

function fieldsOf({ outputs }: EngineRun): readonly string[] {
  return outputs.map((output) => output.replace(/^S@\d+ /, ''));
}

/** What windows of `size` events give, each call by itself, and how many events had a value that a call refused. */
function windowsOfEvents(given: readonly Value[], size: number, slide: number | null): { results: string[]; failures: number } {
  const results: string[] = [];
  let [failures, since] = [0, size];
  /** For each event of the window what each call holds of it. */
  let window: Value[][] = [];
  for (const one of given) {
    if (window.length === size) window = slide === null ? [] : window.slice(1);
    const held = CALLS.map((name, call) => (takes(name, [...window.map((row) => row[call] ?? null), one]) ? one : null));
    if (held.some((value) => value !== one)) failures++;
    window.push(held);
    since++;
    if (window.length < size || (slide !== null && since < slide)) continue;
    results.push(resultsOf(window));
    since = 0;
  }
  if (slide === null && window.length > 0 && window.length < size) results.push(resultsOf(window));
  return { results, failures };
}

function takes(name: string, held: readonly Value[]): boolean {
  const accumulator = aggregates.get(name)?.create([]);
  try {
    held.forEach((value, at) => {
      accumulator?.add([value], at, at);
    });
    return true;
  } catch {
    return false;
  }
}

function resultsOf(window: readonly (readonly Value[])[]): string {
  const fields = new Map<string, Value>();
  CALLS.forEach((name, call) => {
    const accumulator = aggregates.get(name)?.create([]);
    window.forEach((row, at) => {
      accumulator?.add([row[call] ?? null], at, at);
    });
    fields.set(name, accumulator?.result({ lengthMs: 0 }) ?? null);
  });
  return fieldsToJson(fields);
}

describe.each(ways)('%s: an event whose value an aggregate refuses', (_, engine) => {
  test('keeps its place in a window of events, where it counts as null for the calls that refuse it', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 2, max: 5 }), fc.constantFrom(null, 1, 2), (given, size, slide) => {
        const operators = slide === null ? `window(${size})` : `window(${size}, sliding: ${slide})`;
        const { results, failures } = windowsOfEvents(given, size, slide);
        const run = runOf(operators, given, engine);
        expect(fieldsOf(run)).toEqual(results);
        expect(run.logs.length).toBe(failures);
      }),
    );
  });

  test.each([
    ['window(3, sliding: 1)', 8, 2],
    ['window(3)', 3, 2],
  ])('does not end the results of `.%s`', (operators, results, failures) => {
    const program = `stream S = E.${operators}.aggregate(m: max(v), n: count()).emit(m, n)\n`;
    for (const restarts of [false, true]) {
      let run = start(planOf(program), engine);
      const outputs: string[] = [];
      let failed = 0;
      for (const [at, v] of ['n/a', 1, 2, 3, 4, 5, 6, 7, 8, 9].entries()) {
        run.push('E', at * 1000, { v });
        if (!restarts) continue;
        failed += run.logs.length;
        outputs.push(...run.outputs);
        const saved = JSON.parse(JSON.stringify(run.engine.snapshot()));
        run = start(planOf(program), engine);
        run.engine.restore(saved);
      }
      expect([...outputs, ...run.outputs]).toHaveLength(results);
      expect(failed + run.logs.length).toBe(failures);
    }
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

/** What a program may make, nested too deep to be kept where k is 4. */
const MADE = `event E:
    k: int
fn made(k: int) -> any:
    var x = [k]
    if k == 4:
        for i in 0..200:
            x := [x]
    return x
`;

describe.each(ways)('%s: a value that is nested too deep to be kept', (_, engine) => {
  const runWith = (operators: string, calls: string): EngineRun => {
    const text = `${MADE}stream S = E.${operators}.aggregate(n: count(), s: sum(k), ${calls}).emit(n, s)\n`;
    const run = start(planOf(text), engine);
    for (const [at, k] of [1, 2, 4, 8].entries()) run.push('E', at * 1000, { k });
    run.engine.end();
    return run;
  };
  const keeping = [
    ['c: collect(made(k))'],
    ['f: first(made(k))'],
    ['l: last(made(k))'],
    ['d: count_distinct(made(k))'],
    ['d: count_distinct(made(k)), c: collect(made(k))'],
    ['l: last(k), c: collect(made(k)), m: last(made(k))'],
    ['c: collect(made(k)) where k > 2'],
  ];
  const byTime = [
    'window(10s)',
    'window(session: 5s)',
    'watermark(out_of_order: 1s).window(10s)',
    'watermark(out_of_order: 1s).window(session: 5s)',
    'window(10s, early: 8s)',
    'window(10s, sliding: 10s)',
    'window(20s, sliding: 10s)',
  ];

  test.each(keeping)('is given to no call, where %s would keep it', (calls) => {
    for (const window of byTime) {
      const run = runWith(window, calls);
      expect(fieldsOf(run)[0], window).toBe('{"n":3,"s":11}');
      expect(run.logs, window).toHaveLength(1);
    }
  });

  test.each(keeping)('is null in a window of events, where %s would keep it', (calls) => {
    for (const window of ['window(4)', 'window(4, sliding: 1)', 'on_error(null).window(4)', 'on_error(null).window(10s)']) {
      expect(fieldsOf(runWith(window, calls)), window).toEqual(['{"n":4,"s":15}']);
    }
  });

  test('counts', () => {
    for (const window of [...byTime, 'window(4)', 'window(4, sliding: 1)']) {
      const run = runWith(window, 'm: count(made(k))');
      expect(fieldsOf(run)[0], window).toBe('{"n":4,"s":15}');
      expect(run.logs, window).toEqual([]);
    }
  });

  test('is in no running aggregate that would keep it', () => {
    const text = `${MADE}stream S = E.aggregate(n: count(), s: sum(k), c: collect(made(k))).emit(n, s)\n`;
    const run = start(planOf(text), engine);
    for (const [at, k] of [1, 2, 4, 8].entries()) run.push('E', at * 1000, { k });
    expect(fieldsOf(run)).toEqual(['{"n":1,"s":1}', '{"n":2,"s":3}', '{"n":3,"s":11}']);
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

test.each([
  ['m: max(v), s: sum(v)'],
  ['m: max(v), s: sum(w)'],
  ['m: min(v), s: avg(w)'],
  ['m: count(v), s: sum(v)'],
  ['m: top(v, 2), s: sum(w) where w > 0'],
])('a loaded window of events has of each event what it has without a restart: %s', (calls) => {
  const marked = [1, 777, 2, 778].map((v) => ({ v, w: 10 }));
  const refused = marked.map(({ v, w }) => ({ v: v > 700 ? 'x' : v, w }));
  const next = [4, 5, 6, 7].map((v) => ({ v, w: 20 }));
  for (const window of ['window(5, sliding: 1)', 'window(5, sliding: 2)', 'watermark(out_of_order: 1s).window(5)']) {
    const plan = planOf(`stream S = E.${window}.aggregate(${calls}, n: count(), c: collect(w)).emit(m, s, n, c)\n`);
    const before = start(plan);
    for (const [at, fields] of marked.entries()) before.push('E', at * 1000, fields);
    const saved = JSON.stringify(before.engine.snapshot());
    const held = saved.replaceAll(/(\[(?:true,)?)(777|778)((?:,[^[\]]*)?\])/g, (text) => text.replaceAll(/777|778/g, '"x"'));
    const [after, whole] = [start(plan), start(plan)];
    after.engine.restore(JSON.parse(held));
    for (const [at, fields] of refused.entries()) whole.push('E', at * 1000, fields);
    for (const run of [after, whole]) {
      for (const [at, fields] of next.entries()) run.push('E', (4 + at) * 1000, fields);
      run.engine.end();
    }
    expect(after.outputs.length, window).toBeGreaterThan(0);
    expect(after.outputs, window).toEqual(whole.outputs);
  }
});

test('calls of a loaded session take values of one kind', () => {
  const plan = planOf('stream S = E.window(session: 5s).aggregate(m: max(v), s: sum(v), c: collect(v)).emit(m, s)\n');
  const before = start(plan);
  for (const [at, v] of [777, 1, 778, 3].entries()) before.push('E', at * 1000, { v });
  const saved = JSON.stringify(before.engine.snapshot());
  const held = saved.replaceAll(/(\[(?:true,)?)(777|778)((?:,(?:777|778|true))*\])/g, (text) => text.replaceAll(/777|778/g, '"x"'));
  expect(held.match(/"x"/g)?.length).toBeGreaterThanOrEqual(4);
  const after = start(plan);
  after.engine.restore(JSON.parse(held));
  after.push('E', 4000, { v: 4 });
  after.engine.end();
  expect(after.logs).toEqual([]);
  expect(after.outputs.at(-1)).toMatch(/"m":4,"s":8/);
});
