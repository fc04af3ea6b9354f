import { describe, expect, it, vi } from 'vitest';
import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import { DeadlineQueue } from '../../../worker/engine/time/deadline-queue.ts';
import { planOf } from '../../scenarios/run-program.ts';
import { start } from './support/engine-run.ts';
import {
  binary,
  constant,
  emit,
  field,
  fromEvent,
  functionPlan,
  named,
  operator,
  plan,
  type StreamOptions,
  stream,
  timeWindow,
} from './support/plans.ts';

const runOf = (operators: readonly OperatorPlan[], options: StreamOptions = {}) =>
  start(plan({ streams: [stream('S', [fromEvent('X')], { ...options, operators })] }));
const byKey = { partition: { keys: [{ name: 'k', value: field('k') }] } };
const times = (outputs: readonly string[]): number[] => outputs.map((text) => Number(/@(\d+)/.exec(text)?.[1]));

describe('limit', () => {
  it('passes the first n of each partition over the life of the stream, and counts the rest', () => {
    const run = runOf([operator({ kind: 'limit', count: 2, extent: 'stream' }), emit('S')], byKey);
    for (const [time, k] of [
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'a'],
      ['4', 'a'],
      ['5', 'b'],
      ['6', 'b'],
    ] as const)
      run.push('X', Number(time), { k });
    expect(times(run.outputs)).toEqual([1, 2, 3, 5]);
    expect(run.engine.counters().streams.get('S')?.suppressed).toBe(2);
  });

  it('starts afresh with each window, and again for a key that has expired', () => {
    const windowed = runOf([timeWindow(10, null), operator({ kind: 'limit', count: 1, extent: 'window' }), emit('S')]);
    for (const time of [1, 2, 11, 12]) windowed.push('X', time);
    windowed.engine.end();
    expect(times(windowed.outputs)).toEqual([1, 11]);

    const expiring = runOf([operator({ kind: 'limit', count: 1, extent: 'stream' }), emit('S')], {
      partition: { ...byKey.partition, expireMs: 10 },
    });
    for (const time of [0, 10, 20, 31]) expiring.push('X', time, { k: 1 });
    expect(times(expiring.outputs)).toEqual([0, 31]);
  });
});

describe('distinct and dedupe', () => {
  it('pass the first of every key; without a key the whole event counts', () => {
    const run = runOf([operator({ kind: 'distinct', key: null, withinMs: null, extent: 'stream' }), emit('S')]);
    for (const [time, v] of [1, 2, 1, 3, 2].entries()) run.push('X', time, { v });
    expect(times(run.outputs)).toEqual([0, 1, 3]);
  });

  it('take a field that is null for one that is missing', () => {
    const run = runOf([operator({ kind: 'distinct', key: null, withinMs: null, extent: 'stream' }), emit('S')]);
    run.push('X', 0, { v: 1 });
    run.push('X', 1, { v: 1, w: null });
    run.push('X', 2, { w: null });
    run.push('X', 3, {});
    run.push('X', 4, { w: null, v: 1, u: 0 });
    expect(times(run.outputs)).toEqual([0, 2, 4]);
  });

  it('count from the last event that passed: exactly the duration later passes', () => {
    const run = runOf([operator({ kind: 'dedupe', key: field('v'), withinMs: 10 }), emit('S')]);
    for (const time of [0, 5, 9, 10, 15, 20, 29, 31]) run.push('X', time, { v: 1 });
    expect(times(run.outputs)).toEqual([0, 10, 20, 31]);
  });

  it('judge by event time even when one jump of time closes several windows', () => {
    const first = { ...timeWindow(10, null) };
    const run = runOf([first, operator({ kind: 'dedupe', key: constant(1), withinMs: 25 }), emit('S')]);
    for (const time of [1, 11, 21, 31]) run.push('X', time);
    run.push('X', 1_000);
    expect(times(run.outputs)).toEqual([1, 31]);
  });

  it('hold apart what belongs to different partitions', () => {
    const run = runOf([operator({ kind: 'distinct', key: field('v'), withinMs: null, extent: 'stream' }), emit('S')], byKey);
    run.push('X', 1, { k: 'a', v: 1 });
    run.push('X', 2, { k: 'b', v: 1 });
    run.push('X', 3, { k: 'a', v: 1 });
    expect(times(run.outputs)).toEqual([1, 2]);
  });
});

describe('throttle', () => {
  it('passes at most n within any stretch of the duration', () => {
    const run = runOf([operator({ kind: 'throttle', count: 2, perMs: 10 }), emit('S')]);
    for (const time of [0, 6, 9, 10, 15, 16, 20]) run.push('X', time);
    expect(times(run.outputs)).toEqual([0, 6, 10, 16, 20]);
  });

  it('waits for one moment of each partition, however many rows pass', () => {
    const run = runOf([operator({ kind: 'throttle', count: 1_000, perMs: 10_000 }), emit('S')], byKey);
    const push = vi.spyOn(DeadlineQueue.prototype, 'push');
    try {
      for (let time = 0; time < 3_000; time++) run.push('X', time, { k: time % 2 });
      expect(run.outputs.length).toBe(2_000);
      expect(push.mock.calls.length).toBeLessThan(10);
    } finally {
      push.mockRestore();
    }
  });

  it('forgets a partition when time has passed over the last row that it let through', () => {
    const run = runOf([operator({ kind: 'throttle', count: 2, perMs: 10 }), emit('S')], byKey);
    const kept = (): readonly string[] => [...new Set(JSON.stringify(run.engine.snapshot()).match(/old|new/g))];
    for (const time of [0, 5, 8]) run.push('X', time, { k: 'old' });
    run.push('X', 15, { k: 'new' });
    expect(kept()).toEqual(['old', 'new']);
    run.push('X', 16, { k: 'new' });
    expect(kept()).toEqual(['new']);
  });

  it('remembers what rows that are still in order may lie behind', () => {
    const time = { ...stream('S', []).time, outOfOrderMs: 10 };
    const run = runOf([operator({ kind: 'throttle', count: 2, perMs: 30 }), emit('S')], { time });
    for (const at of [10, 12, 45, 36, 43]) run.push('X', at);
    expect(times(run.outputs)).toEqual([10, 12, 45, 43]);
  });

  it('forgets a partition that lags when time has passed from where it stood as the last row passed', () => {
    const run = runOf([operator({ kind: 'throttle', count: 1, perMs: 10 }), emit('S')], byKey);
    const isKept = (): boolean => JSON.stringify(run.engine.snapshot()).includes('lags');
    for (const [time, k] of [
      [60, 'ahead'],
      [20, 'lags'],
      [70, 'ahead'],
    ] as const)
      run.push('X', time, { k });
    expect(isKept()).toBe(true);
    run.push('X', 71, { k: 'ahead' });
    expect(isKept()).toBe(false);
  });

  it('goes on alike after a restore, also with rows out of order', () => {
    const displaced = [0, 6, 3, 9, 2, 14, 11, 17, 13, 25, 21, 19, 40, 33];
    const started = () =>
      runOf([operator({ kind: 'throttle', count: 3, perMs: 10 }), emit('S')], { time: { ...stream('S', []).time, outOfOrderMs: 20 } });
    const whole = started();
    for (const time of displaced) whole.push('X', time);
    for (const at of displaced.keys()) {
      const [before, after] = [started(), started()];
      for (const time of displaced.slice(0, at)) before.push('X', time);
      after.engine.restore(before.engine.snapshot());
      for (const time of displaced.slice(at)) after.push('X', time);
      expect([...before.outputs, ...after.outputs]).toEqual(whole.outputs);
      expect(after.engine.snapshot()).toEqual(whole.engine.snapshot());
    }
  });
});

describe('one event with a time far ahead', () => {
  it.each([
    ['dedupe', '.dedupe(k, within: 10s).emit(k: k)'],
    ['distinct', '.distinct(k, within: 10s).emit(k: k)'],
    ['throttle', '.partition_by(k).throttle(2, per: 10s).emit(k: k)'],
    ['a limit of keys that expire', '.partition_by(k, expire: 10s).limit(2).emit(k: k)'],
    ['a running aggregate of keys that expire', '.partition_by(k, expire: 10s).aggregate(c: count()).emit(c: c)'],
    ['a window of keys that expire', '.partition_by(k, expire: 10s).window(3).aggregate(c: count()).emit(c: c)'],
    ['a pattern of keys that expire', ' as a -> A as b where b.k == 0 and a.k > 0 .partition_by(k, expire: 10s).emit(k: a.k)'],
  ])('leaves no key of the others in the state for ever: %s', (_, operators) => {
    const run = start(planOf(`event A: k: int\nstream S = A${operators}\n`));
    const keptAfter = (from: number, to: number): number => {
      for (let k = from; k < to; k++) run.push('A', Date.UTC(2023, 0, 1) + k * 1_000, { k });
      return JSON.stringify(run.engine.snapshot(), (_key, value) => (value instanceof Map ? [...value] : value)).length;
    };
    run.push('A', Date.UTC(2100, 0, 1), { k: 0 });
    const few = keptAfter(1, 100);
    expect(keptAfter(100, 1_000)).toBeLessThan(few + 100);
  });
});

describe('order_by', () => {
  it('orders a closed window, nulls last in both directions, ties as they came', () => {
    const by = (descending: boolean) => operator({ kind: 'order_by', items: [{ value: field('v'), descending }] });
    for (const [descending, expected] of [
      [false, [3, 5, 1, 4, 2]],
      [true, [1, 4, 3, 5, 2]],
    ] as const) {
      const run = runOf([timeWindow(10, null), by(descending), emit('S', {})]);
      for (const [time, v] of [
        [1, 9],
        [2, null],
        [3, 2],
        [4, 9],
        [5, 2],
      ] as const)
        run.push('X', time, { v });
      run.engine.end();
      expect(times(run.outputs)).toEqual(expected);
    }
  });

  it('drops a row whose key has another kind than those before it, as a failure', () => {
    const run = runOf([
      timeWindow(10, null),
      operator({ kind: 'order_by', items: [{ value: field('v'), descending: false }] }),
      emit('S', {}),
    ]);
    for (const [time, v] of [
      [1, 2],
      [2, 'text'],
      [3, 1],
    ] as const)
      run.push('X', time, { v });
    run.engine.end();
    expect(times(run.outputs)).toEqual([3, 1]);
    expect(run.logs.map((entry) => entry.message)).toEqual(['order_by: cannot order str and int']);
  });
});

describe('last', () => {
  it('passes the last row of a closed window', () => {
    const run = runOf([timeWindow(10, null), operator({ kind: 'last' }), emit('S', {})]);
    for (const time of [1, 5, 12]) run.push('X', time);
    run.engine.end();
    expect(times(run.outputs)).toEqual([5, 12]);
  });
});

describe('process', () => {
  const twice = functionPlan('twice', 1, [
    { kind: 'emit', type: 'Small', items: named({ v: { kind: 'local', type: { kind: 'any' }, slot: 0 } }) },
    { kind: 'emit', type: 'Big', items: named({ v: binary({ kind: 'local', type: { kind: 'any' }, slot: 0 }, '*', constant(2)) }) },
  ]);
  const process = operator({ kind: 'process', function: 0, arguments: [field('v')] });

  it('outputs what the function emits and hands it on in that order', () => {
    const run = start(plan({ functions: [twice], streams: [stream('S', [fromEvent('X')], { operators: [process, emit('After')] })] }));
    run.push('X', 1, { v: 4 });
    expect(run.outputs).toEqual(['S Small@1 {"v":4}', 'S After@1 {"v":4}', 'S Big@1 {"v":8}', 'S After@1 {"v":8}']);
  });

  it('emits nothing of a call that fails', () => {
    const run = start(plan({ functions: [twice], streams: [stream('S', [fromEvent('X')], { operators: [process] })] }));
    run.push('X', 1, { v: 'text' });
    expect(run.outputs).toEqual([]);
    expect(run.engine.counters().streams.get('S')?.failures).toBe(1);
  });
});

describe('side effects', () => {
  const tap = { values: [], level: null, message: null, data: null, counter: null, labels: [] };

  it('print, log and count, and let the event go on', () => {
    const run = runOf([
      operator({ ...tap, kind: 'tap', tap: 'print', values: [field('v'), constant('x')] }),
      operator({ ...tap, kind: 'tap', tap: 'print' }),
      operator({ ...tap, kind: 'tap', tap: 'log', level: constant('warn'), message: constant('hello') }),
      operator({ ...tap, kind: 'tap', tap: 'tap', counter: 'seen', labels: named({ k: field('k') }) }),
      emit('S'),
    ]);
    run.push('X', 1, { v: 1, k: 'a"b' });
    expect(run.logs.map(({ level, kind, message }) => `${level} ${kind} ${message}`)).toEqual([
      'info print 1 x',
      'info print X {"v":1,"k":"a\\"b"}',
      'warn log hello',
    ]);
    expect([...(run.engine.counters().streams.get('S')?.taps ?? [])]).toEqual([['seen{k="a\\"b"}', 1]]);
    expect(run.outputs).toHaveLength(1);
  });

  it('count what has further labels than a counter may have as others, also after a restart', () => {
    const operators = [
      operator({ ...tap, kind: 'tap', tap: 'tap', counter: 'seen', labels: named({ k: field('k'), v: field('v') }) }),
      operator({ ...tap, kind: 'tap', tap: 'tap', counter: 'all' }),
      emit('S'),
    ];
    const first = runOf(operators);
    for (let n = 0; n < 1_200; n++) first.push('X', n, { v: 1, k: `k${n}` });
    const taps = (run: typeof first) => run.engine.counters().streams.get('S')?.taps ?? new Map<string, number>();
    expect([taps(first).size, taps(first).get('seen{k="other",v="other"}'), taps(first).get('all')]).toEqual([1_002, 200, 1_200]);

    const second = runOf(operators);
    second.engine.restore(JSON.parse(JSON.stringify(first.engine.snapshot())));
    for (const k of ['k0', 'new']) second.push('X', 2_000, { v: 1, k });
    expect([taps(second).size, taps(second).get('seen{k="k0",v="1"}'), taps(second).get('seen{k="other",v="other"}')]).toEqual([
      1_002, 2, 201,
    ]);
  });

  it('deliver to connectors and webhooks, and log an alert without an address', () => {
    const run = runOf([
      operator({ kind: 'to', connector: 'K', topic: field('k'), parameters: new Map([['acks', 1]]) }),
      operator({ kind: 'alert', url: 'http://x', message: constant('text') }),
      operator({ kind: 'alert', url: null, message: null }),
    ]);
    run.push('X', 3, { k: 'topic' });
    expect(
      run.deliveries.map(({ connector, url, topic, stream: name, time, message }) => [connector, url, topic, name, time, message]),
    ).toEqual([
      ['K', null, 'topic', 'S', 3, null],
      [null, 'http://x', null, 'S', 3, 'text'],
    ]);
    expect(run.logs.map(({ level, message }) => [level, message])).toEqual([['warn', 'X']]);
  });
});

describe('a failure', () => {
  const failing = [emit('S', { v: binary(field('v'), '*', constant(2)), w: constant(1) })];

  it('drops the event from that stream only, counted and logged', () => {
    const run = start(
      plan({ streams: [stream('S', [fromEvent('X')], { operators: failing }), stream('T', [fromEvent('X')], { operators: [emit('T')] })] }),
    );
    run.push('X', 1, { v: 'a' });
    run.push('X', 2, { v: 2 });
    expect(run.outputs).toEqual(['T@1 {"v":"a"}', 'S@2 {"v":4,"w":1}', 'T@2 {"v":2}']);
    expect(run.logs).toEqual([
      { stream: 'S', level: 'error', kind: 'failure', message: 'emit: cannot multiply str by int', data: new Map([['v', 'a']]) },
    ]);
  });

  it('makes the expression null under on_error(null)', () => {
    const run = runOf(failing, { onError: 'null' });
    run.push('X', 1, { v: 'a' });
    expect(run.outputs).toEqual(['S@1 {"v":null,"w":1}']);
    expect(run.engine.counters().streams.get('S')?.failures).toBe(1);
  });

  it('hands the event to the dead letters under on_error(dlq)', () => {
    const run = runOf(failing, { onError: 'dlq' });
    run.push('X', 1, { v: 'a' });
    expect(run.deadLetters).toEqual([
      { stream: 'S', type: 'X', time: 1, fields: new Map([['v', 'a']]), reason: 'cannot multiply str by int' },
    ]);
  });
});
