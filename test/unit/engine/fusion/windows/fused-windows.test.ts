import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { EVENT, inputs, type TestEvent, timeOperators } from '../../windows/timeline.ts';
import { expectAlike, kernelsOf, snapshotAfter } from './alike.ts';

const runs = Number(process.env['FUZZ_PROGRAMS'] ?? 40);

const partitions = ['', '.partition_by(k)', '.partition_by(k, v)', '.partition_by(k, expire: 30ms)', '.partition_by(k, v, expire: 15ms)'];

/** Aggregates that numbers can tell, and some that keep an accumulator. */
const numeric = [
  'n: count()',
  'n: count(v)',
  'n: count() where v > 2',
  'all: sum(v)',
  'all: sum(v * 0.1) where v != 3',
  'mean: avg(v)',
  'mean: avg(v / 3)',
  'spread: stddev(v)',
  'spread: variance(v * 1.5) where i > 4',
  'least: min(v)',
  'most: max(0 - v)',
  'rate: rate()',
  'rate: rate() where v > 0',
  'both: sum(v) / count()',
];
const ordered = ['tail: ema(v, 3)', 'head: first(v)', 'end: last(v) where v > 1', 'end: last(i)', 'ones: collect(i)'];
const others = [
  'middle: median(v)',
  'kinds: count_distinct(v)',
  'names: count(k)',
  'least: min(k)',
  'tops: top(v, 2)',
  'end: last(k)',
  'at: window_start',
];

/** Values that an aggregate refuses, and results that cannot be calculated. */
const failing = [
  'wrong: sum([1, "x"][i % 2])',
  'worse: max([1, "x"][i % 2])',
  'bad: [1, "x"][count() % 2] * 2',
  'wrong: sum([v, k][i % 2]) where v > 0',
  'bad: avg([1, "x"][i % 2] * 2)',
];

const calls = (known: readonly string[]): fc.Arbitrary<string> =>
  fc
    .uniqueArray(fc.constantFrom(...known), { minLength: 1, maxLength: 4, selector: (call) => call.split(':')[0] as string })
    .map((list) => list.join(', '));

/** What stands behind the aggregate. */
const ends = ['', '.where(is_final)', '.having(window_end > window_start)', '.limit(2)', '.first()'];

/** What the windows stand behind: declarations, and the head of the stream. */
const sources: readonly (readonly [declarations: string, head: string])[] = [
  ['', 'E'],
  ['', 'E.where(i > 1)'],
  ['event F extends E:\n    w: int?\n', 'E.where(v != 2)'],
  ['event F extends E:\n    tags: [int]?\n', 'E.where(v != 2)'],
  ['event F:\n    i: int\n    k: str?\n    v: int?\n    tags: any?\n', 'merge(E, F)'],
  ['event F:\n    i: int\n    k: str?\n    v: int?\n', 'merge(E, F)'],
  ['stream D = E.select(i: i, k: k, v: v)\n', 'D'],
  ['stream D = E.window(2).aggregate(i: max(i), k: last(k), v: sum(v))\n', 'D'],
  ['stream D = E.aggregate(i: last(i), k: last(k), v: sum(v) / 2)\n', 'D.where(v > 0)'],
  ['stream D = E.window(5ms).aggregate(i: count(), k: max(k), v: sum(v))\n', 'merge(D, E)'],
];

/** What can be taken out of numbers again, or keeps what it needs for that. */
const sliding = [
  ...numeric,
  'head: first(v)',
  'end: last(v) where v > 1',
  'end: last(i)',
  'ones: collect(i)',
  'middle: median(v)',
  'all: sum(v * 1.0e305)',
  'mean: avg(v * 1.0e300)',
  'spread: stddev(v * 1.0e125)',
  'spread: variance(v ** 200)',
];

const program = (windows: readonly string[], isLateAllowed: boolean): fc.Arbitrary<string> =>
  fc
    .record({
      source: fc.oneof({ weight: 3, arbitrary: fc.constant(sources[0] as (typeof sources)[0]) }, fc.constantFrom(...sources)),
      partition: fc.constantFrom(...partitions, ...(slides(windows) ? partitions.slice(0, 3) : [])),
      window: fc.constantFrom(...windows),
      aggregates: fc.oneof(
        { weight: 3, arbitrary: calls(slides(windows) ? sliding : [...numeric, ...ordered, ...others]) },
        calls([...numeric, ...others, ...failing, ...ordered]),
      ),
      onError: fc.constantFrom('', '', '.on_error(null)'),
      outOfOrderUs: slides(windows) ? fc.constantFrom(0, 0, 0, 0, 10_000) : fc.constantFrom(0, 0, 10_000),
      latenessUs: fc.constantFrom(0, 8_000),
      end: fc.constantFrom(...ends),
    })
    .map(({ source: [declarations, head], partition, window, aggregates, outOfOrderUs, latenessUs, end, onError }) => {
      const time = timeOperators(outOfOrderUs, isLateAllowed ? latenessUs : 0);
      const key = partition === '' ? '"all"' : 'k';
      const isWindow = window !== '';
      const late = isLateAllowed ? '\nstream L = S.late.emit(i: i)\n' : '';
      const items = isWindow ? aggregates : aggregates.replace('window_start', 'timestamp').replaceAll('rate()', 'count()');
      const chain = `${window}.aggregate(${items})${isWindow ? end : ''}${onError}`;
      return `${EVENT}${declarations}stream S = ${head}${time}${partition}${chain}\nstream O = S.emit(k: ${key}, at: ${isWindow ? 'window_end' : 'timestamp'}, all: 1)\nstream A = S.emit()\n${late}`;
    });

function slides(windows: readonly string[]): boolean {
  return windows.every((window) => window.includes('sliding'));
}

const kinds: readonly (readonly [string, readonly string[], boolean])[] = [
  ['count windows', ['.window(1)', '.window(3)', '.window(5)'], false],
  ['tumbling windows', ['.window(20ms)', '.window(1500us)', '.window(20ms, align: first)', '.window(7ms, offset: 2ms)'], true],
  [
    'hopping windows',
    [
      '.window(20ms, sliding: 10ms)',
      '.window(30ms, sliding: 7ms)',
      '.window(8ms, sliding: 1500us)',
      '.window(20ms, sliding: 5ms, offset: 2ms)',
    ],
    true,
  ],
  ['sessions', ['.window(session: 10ms)', '.window(session: 25ms)', '.window(session: 1500us)'], true],
  ['running aggregates', [''], false],
];

/** Windows that take whole rows, whatever stands before and behind them. */
const wholeKinds: readonly (readonly [string, readonly string[], boolean])[] = [
  ['counts that slide', ['.window(4, sliding: 2)', '.window(3, sliding: 1)', '.window(2, sliding: 2)'], false],
  [
    'windows with interim results, and aligned to the first event',
    ['.window(20ms, early: 5ms)', '.window(20ms, sliding: 5ms, early: 6ms)', '.window(20ms, sliding: 7ms, align: first)'],
    true,
  ],
  ['sessions with interim results', ['.window(session: 10ms, early: 4ms)', '.window(session: 25ms, early: 7ms)'], true],
];

test.each(wholeKinds)('%s give the same wherever rows come from, whoever takes over', { timeout: 300_000 }, (_, windows, isLateAllowed) => {
  let effects = 0;
  const property = fc.property(program(windows, isLateAllowed), inputs({ types: ['E', 'E', 'F'] }), fc.nat(18), (text, events, cut) => {
    effects += expectAlike(text, events, cut).length;
  });
  fc.assert(property, { numRuns: runs });
  expect(effects).toBeGreaterThan(3 * runs);
});

test.each(['n: count(v)', 'n: count(v), m: sum(v)', 'm: sum(v), n: count(v)'])('%s that overlap go on from windows over rows', (items) => {
  const events = [0, 5, null].map((v, index): TestEvent => ({ index, type: 'E', k: 'a', v, us: 100_000_000 + index }));
  const program = `${EVENT}stream S = E.window(20ms, sliding: 10ms).aggregate(${items})\nstream A = S.emit()\n`;
  for (const cut of [1, 2, 3]) expectAlike(program, events, cut);
});

test.each(kinds)('%s give the same fused and not, whoever takes over', { timeout: 300_000 }, (_, windows, isLateAllowed) => {
  let effects = 0;
  let kernels = 0;
  const property = fc.property(program(windows, isLateAllowed), inputs({ types: ['E', 'E', 'F'] }), fc.nat(18), (text, events, cut) => {
    effects += expectAlike(text, events, cut).length;
    kernels += kernelsOf(text);
  });
  fc.assert(property, { numRuns: runs });
  expect(effects).toBeGreaterThan(3 * runs);
  expect(kernels, 'many of the windows are kernels').toBeGreaterThan(runs * 0.3);
});

test.each(kinds.map(([, [window]]) => [window]))('`%s` with numbers alone is a kernel', (window) => {
  const text = `${EVENT}stream S = E.partition_by(k)${window}.aggregate(n: count(), mean: avg(v)).emit(k: k, n: n, mean: mean)\n`;
  expect(kernelsOf(text)).toBe(1);
});

test.each(kinds.map(([, [window]]) => [window]))(
  'a snapshot of `%s` shows the moment at which it was taken, whenever it is read',
  (window) => {
    const text = `${EVENT}stream S = E.partition_by(k)${window}.aggregate(n: count(), mean: avg(v)).emit(k: k, n: n, mean: mean)\n`;
    const property = fc.property(inputs(), fc.nat(18), (events, at) => {
      expect(snapshotAfter(text, events, at, events.length)).toBe(snapshotAfter(text, events, at, at));
    });
    fc.assert(property, { numRuns: runs });
  },
);

/** More events than a ring begins with; keys come and go, and now and then an event comes late. */
function manyEvents(count: number, stepUs: number): TestEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const us = 1_000_000_000 + Math.round(index * stepUs) - (index % 700 === 699 ? 3_500 : 0);
    return { index, type: 'E', k: `k${(index * 7919) % 313}.${Math.floor(index / 500)}`, v: (index * 31) % 17, us };
  });
}

test.each([
  ['in a ring that grows', 6],
  ['in a ring that moves down', 40],
])('hopping windows of thousands of events and keys give the same fused and not, %s', { timeout: 120_000 }, (_, stepUs) => {
  const items = 'n: count(), all: sum(v * 0.1), spread: stddev(v), least: min(v) where v > 2, head: first(i), ones: last(i)';
  const text = `${EVENT}stream S = E.allowed_lateness(2ms).partition_by(k).window(24ms, sliding: 7ms).aggregate(${items})\nstream A = S.emit()\nstream L = S.late.emit(i: i)\n`;
  expect(kernelsOf(text)).toBe(1);
  expect(expectAlike(text, manyEvents(8_000, stepUs), 5_000).length).toBeGreaterThan(8_000);
});
