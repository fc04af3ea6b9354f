import { describe, expect, it } from 'vitest';
import { decodeValue, encodeValue } from '../../../shared/events/stored-value.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import type { EngineSnapshot } from '../../../worker/engine/engine.ts';
import { reload } from '../../../worker/engine/reload.ts';
import { planOf } from '../../scenarios/run-program.ts';
import { AskingRun } from './analytics/asking-run.ts';
import { type EngineRun, start } from './support/engine-run.ts';
import {
  binary,
  binding,
  constant,
  countAndSum,
  emit,
  field,
  fromEvent,
  fromStream,
  operator,
  plan,
  type StreamOptions,
  stream,
  timeWindow,
  where,
} from './support/plans.ts';

const limited = (count: number) => operator({ kind: 'limit', count, extent: 'stream' });
const program = (name: string, options: StreamOptions): Plan => plan({ streams: [stream(name, [fromEvent('X')], options)] });

/** Type, time and `v`. */
type Inputs = readonly (readonly [string, number, number?])[];

/** As many events, a second apart. */
const many = (count: number): Inputs => Array.from({ length: count }, (_, at) => ['E', at * 1000, at + 1] as const);

const NAMES = 'connector Names = http (url: "http://localhost:1")\n\n';

/** What the other engine says of the state of this one, which goes by way of JSON. */
function moveTo(run: EngineRun, next: EngineRun) {
  return next.engine.restore(JSON.parse(JSON.stringify(run.engine.snapshot())) as EngineSnapshot);
}

describe('restore', () => {
  it('into the same program goes on as if nothing had happened', () => {
    const streams = [
      stream('W', [fromEvent('X')], {
        operators: [timeWindow(10, countAndSum('v')), emit('W')],
        partition: { keys: [{ name: 'k', value: field('k') }] },
      }),
      stream('D', [fromStream(0)], { operators: [operator({ kind: 'dedupe', key: field('total'), withinMs: 15 }), emit('D')] }),
    ];
    const bindings = [binding('C/x', 'X')];
    const before = start(plan({ streams, bindings }));
    const push = (run: EngineRun, time: number, v: number, partition: number) =>
      run.push('X', time, { k: `k${v % 2}`, v }, `C/x#${partition}`);
    push(before, 1, 1, 0);
    push(before, 5, 2, 1);
    push(before, 12, 1, 0);
    const after = start(plan({ streams, bindings }));
    expect(moveTo(before, after)).toEqual({ preserved: ['W', 'D'], changed: [], reset: [], lostState: [], added: [], removed: [] });
    for (const run of [before, after]) {
      push(run, 13, 5, 1);
      push(run, 27, 1, 0);
      push(run, 28, 1, 1);
      run.engine.end();
    }
    expect(before.outputs.length).toBeGreaterThan(3);
    expect(after.outputs).toEqual(before.outputs);
    expect(after.engine.snapshot()).toEqual(before.engine.snapshot());
    expect(after.engine.counters()).toEqual(before.engine.counters());
  });

  it('keeps the state of operators that are the same, and tells what changed', () => {
    const before = start(program('S', { operators: [where(binary(field('v'), '>', constant(0))), limited(2), emit('S')] }));
    before.push('X', 1, { v: 1 });
    const after = start(program('S', { operators: [where(binary(field('v'), '>', constant(5))), limited(2), emit('S')] }));
    expect(moveTo(before, after)).toMatchObject({ preserved: [], changed: ['S'], reset: [], lostState: [] });
    after.push('X', 2, { v: 9 });
    after.push('X', 3, { v: 9 });
    expect(after.outputs).toEqual(['S@2 {"v":9}']);
  });

  it('starts operators that changed afresh', () => {
    const before = start(program('S', { operators: [limited(1), emit('S')] }));
    before.push('X', 1);
    const after = start(program('S', { operators: [limited(2), emit('S')] }));
    expect(moveTo(before, after)).toMatchObject({ changed: [], reset: ['S'], lostState: ['S'] });
    after.push('X', 2);
    after.push('X', 3);
    expect(after.outputs).toHaveLength(2);
  });

  it('starts all afresh that had another key', () => {
    const byKey = (name: string): StreamOptions => ({
      operators: [limited(1), emit('S')],
      partition: { keys: [{ name, value: field(name) }] },
    });
    const before = start(program('S', byKey('a')));
    before.push('X', 1, { a: 1 });
    const after = start(program('S', byKey('b')));
    expect(moveTo(before, after)).toMatchObject({ reset: ['S'], lostState: ['S'] });
    after.push('X', 2, { b: 1 });
    expect(after.outputs).toHaveLength(1);
  });

  it('says that a part of the state is lost, and that nothing is where there was none', () => {
    const both = (withinMs: number) =>
      program('S', { operators: [limited(2), operator({ kind: 'dedupe', key: field('v'), withinMs }), emit('S')] });
    const fed = (program: Plan): EngineRun => {
      const run = start(program);
      run.push('X', 1, { v: 1 });
      return run;
    };
    expect(moveTo(fed(both(5)), start(both(6)))).toMatchObject({ changed: ['S'], reset: [], lostState: ['S'] });
    const one = (value: number, key: string): Plan =>
      program('S', {
        operators: [where(binary(field('v'), '>', constant(value))), emit('S')],
        partition: { keys: [{ name: key, value: field(key) }] },
      });
    expect(moveTo(start(one(0, 'a')), start(one(1, 'a')))).toMatchObject({ changed: ['S'], reset: [], lostState: [] });
    expect(moveTo(start(one(0, 'a')), start(one(0, 'b')))).toMatchObject({ changed: [], reset: ['S'], lostState: [] });
    expect(moveTo(fed(both(5)), start(program('S', { operators: [emit('S')] })))).toMatchObject({ reset: ['S'], lostState: ['S'] });
  });

  /** Of each: the stream, what it holds something of, and what has it hold nothing again (null: nothing does). */
  const holding: readonly (readonly [(n: number) => string, Inputs, Inputs | null])[] = [
    [(n) => `E.window(${n}).emit(v)`, many(2), many(5)],
    [(n) => `E.window(${n}, sliding: 1).aggregate(s: sum(v)).emit(s)`, many(2), null],
    [(n) => `E.window(${n}s).aggregate(s: sum(v)).emit(s)`, many(2), [...many(2), ['F', 60_000]]],
    [(n) => `E.window(${n}s, sliding: 1s).aggregate(s: sum(v)).emit(s)`, many(2), [...many(2), ['F', 60_000]]],
    [(n) => `E.window(session: ${n}s).aggregate(s: sum(v)).emit(s)`, many(2), null],
    [(n) => `E.aggregate(s: sum(v + ${n})).emit(s)`, many(1), null],
    [(n) => `E.distinct(v + ${n}).emit(v)`, many(1), null],
    [(n) => `E.limit(${n}).emit(v)`, many(1), null],
    [(n) => `E.throttle(${n}, per: 5s).emit(v)`, many(1), null],
    [(n) => `E.fork(a: .limit(${n}), b: .where(v > 1)).emit(v)`, many(1), null],
    [(n) => `E as a -> F as b\n    .within(${n}s)\n    .emit(x: a.v)`, many(1), [...many(1), ['F', 1_500]]],
    [(n) => `E as a -> F as b\n    .within(${n}s)\n    .forecast(horizon: 5s)\n    .emit(x: 1)`, many(1), null],
    [(n) => `E as a -> all E as b -> F as c\n    .within(${n}s)\n    .trend_aggregate(n: count_trends())\n    .emit(n)`, many(2), null],
    [(n) => `join(E as A, F as B on A.v == B.v)\n    .window(${n}s)\n    .emit(x: A.v)`, many(1), [...many(1), ['G', 60_000]]],
    [(n) => `timer(${n}s).emit(t: 1)`, many(1), null],
  ];

  it.each(holding)('tells lost state from none: %s', (text, inputs, emptied) => {
    const lost = (given: Inputs, from: string, to: string): readonly string[] => {
      const before = start(planOf(`stream S = ${from}\n`));
      for (const [type, time, v] of given) before.push(type, time, { v: v ?? 0 });
      const next = planOf(`stream S = ${to}\n`);
      const { lostState } = moveTo(before, start(next));
      expect(reload(before.engine, next, { output: () => undefined }).report.lostState).toEqual(lostState);
      return lostState;
    };
    expect(lost([], text(5), text(6))).toEqual([]);
    expect(lost(inputs, text(5), text(6))).toEqual(['S']);
    expect(lost(inputs, text(5), text(5))).toEqual([]);
    if (emptied !== null) expect(lost(emptied, text(5), text(6))).toEqual([]);
  });

  it.each([
    [(n: number) => `E.score(model: "m", inputs: [v], outputs: [a], batch_size: ${n}).emit(a)`],
    [(n: number) => `E.enrich(Names, key: v + ${n}, fields: [name]).emit(name)`],
  ])('tells rows that wait for an answer from none: %s', (text) => {
    const run = (n: number): AskingRun => new AskingRun(`${NAMES}stream S = ${text(n)}\n`);
    const before = run(5);
    const lost = (): readonly string[] => run(6).engine.restore(before.engine.snapshot()).lostState;
    expect(lost()).toEqual([]);
    before.push('E', 1, { v: 1 });
    expect(lost()).toEqual(['S']);
  });

  it.each([1, 2, 3])('knows the state of a pattern without runs in format %i', (format) => {
    const pattern = (ms: number): Plan => planOf(`stream S = E as a -> F as b\n    .within(${ms}ms)\n    .emit(x: a.v)\n`);
    const before = start(pattern(5));
    const lost = (): readonly string[] => start(pattern(6)).engine.restore(before.engine.snapshot(format)).lostState;
    expect(lost()).toEqual([]);
    before.push('E', 1, { v: 1 });
    expect(lost()).toEqual(['S']);
  });

  it('does not take a state that was kept without anything in it for the one that is lost', () => {
    const both = (size: number): Plan => planOf(`stream S = E.window(${size}).limit(3).emit(v)\n`);
    const before = start(both(5));
    before.push('E', 1, { v: 1 });
    expect(moveTo(before, start(both(6)))).toMatchObject({ lostState: ['S'] });
  });

  it('names streams that came and went', () => {
    const before = start(program('Old', { operators: [emit('Old')] }));
    expect(moveTo(before, start(program('New', { operators: [emit('New')] })))).toEqual({
      preserved: [],
      changed: [],
      reset: [],
      lostState: [],
      added: ['New'],
      removed: ['Old'],
    });
  });

  it('knows the time: what was late stays late', () => {
    const options = { operators: [timeWindow(10, countAndSum('v')), emit('S')] };
    const before = start(program('S', options));
    before.push('X', 100, { v: 1 });
    const after = start(program('S', options));
    moveTo(before, after);
    after.push('X', 5, { v: 1 });
    expect(after.engine.counters().streams.get('S')?.late).toBe(1);
  });
});

describe('the codec of state', () => {
  it('brings every value back from JSON', () => {
    const value: Value = [
      null,
      true,
      'text',
      -1.5,
      -0,
      Infinity,
      -Infinity,
      new Timestamp(5.25),
      new Duration(-Infinity),
      [],
      ['t', 5],
      new Map<string, Value>([
        ['__proto__', 1],
        ['m', new Map([['a', [new Timestamp(0)]]])],
      ]),
    ];
    expect(decodeValue(JSON.parse(JSON.stringify(encodeValue(value))))).toEqual(value);
  });
});
