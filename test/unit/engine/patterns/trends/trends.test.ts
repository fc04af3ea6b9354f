import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { check } from '../../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../../shared/language/diagnostics/diagnostic.ts';
import type { PatternNode, PatternPlan, Plan, TrendCall } from '../../../../../shared/language/plan/plan.ts';
import { ANY } from '../../../../../shared/language/plan/types.ts';
import { createEngine } from '../../../../../worker/engine/create-engine.ts';
import { events, type TestEvent } from '../harness.ts';
import { isCovered } from '../oracle.ts';
import { randomEvents, randomPattern } from '../random-patterns.ts';
import { TooManyWords } from '../words.ts';
import { naiveTrends } from './naive-trends.ts';
import { TrendHarness, trendPlan, trendsOf } from './trend-harness.ts';

/** The results of a program over events, at the end of input: `name=value` for each item. */
function results(source: string, input: string, by?: string): readonly string[] {
  const { pattern, trends } = trendsOf(source);
  const harness = new TrendHarness(pattern, trends, by);
  for (const event of events(input)) harness.push(event);
  harness.advance(Infinity);
  return harness.results.map((row) => [...row.fields].map(([name, value]) => `${name}=${value}`).join(' '));
}

describe('trends', () => {
  test('E+ over n events has 2^n - 1 trends', () => {
    expect(results('E+ as e .window(1m) .trend_aggregate(n: count_trends())', 'E1 E2 E3')).toEqual(['n=7']);
    expect(results('E+ as e .window(10m) .trend_aggregate(n: count_trends())', 'E '.repeat(53))).toEqual([`n=${2 ** 53 - 1}`]);
  });

  test('counts beyond 2^53 are decimal strings, exact', () => {
    expect(results('E+ as e .window(10m) .trend_aggregate(n: count_trends())', 'E '.repeat(200))).toEqual([`n=${2n ** 200n - 1n}`]);
  });

  test('events, sums and averages count every event once for each trend that holds it', () => {
    const all = 'n: count_events(e), s: sum_trends(e.v), a: avg_trends(e.v), lo: min_trends(e.v), hi: max_trends(e.v)';
    expect(results(`E+ as e .window(1m) .trend_aggregate(${all})`, 'E1 E2 E3')).toEqual(['n=12 s=24 a=2 lo=1 hi=3']);
  });

  test('averages stay exact where sums leave the range of doubles', () => {
    expect(results('E+ as e .window(1h) .trend_aggregate(s: sum_trends(e.v), a: avg_trends(e.v))', 'E2 E4 '.repeat(600))).toEqual([
      's=null a=3',
    ]);
  });

  test('sums of decimals are exact, in whatever order', () => {
    const trend = trendsOf('E+ as e .window(1m) .trend_aggregate(s: sum_trends(e.v))');
    const harness = new TrendHarness(trend.pattern, trend.trends);
    for (const v of [0.1, 1e15, -1e15, 0.2]) harness.push({ type: 'E', v, k: null, time: 0 });
    harness.advance(Infinity);
    expect(harness.results[0]?.fields.get('s')).toBe((0.1 + 0.2) * 8);
  });

  test('filters, edge predicates and earlier steps apply', () => {
    expect(results('E+ where v > 1 as e .window(1m) .trend_aggregate(n: count_trends())', 'E1 E2 E3')).toEqual(['n=3']);
    expect(results('E+ where v > e.v as e .window(1m) .trend_aggregate(n: count_trends())', 'E1 E3 E2')).toEqual(['n=5']);
    expect(results('A as a -> E+ where k == a.k as e .window(1m) .trend_aggregate(n: count_trends())', 'A{p} A{q} E{p} E{p} E{q}')).toEqual(
      ['n=4'],
    );
  });

  test('.increasing(f) is a condition on neighbours', () => {
    expect(results('E+ as e .increasing(v) .window(1m) .trend_aggregate(n: count_trends())', 'E1 E3 E2')).toEqual(['n=5']);
  });

  test('each partition and window has one result, the keys behind the items', () => {
    const source = 'E+ as e partition by k .window(5s) .trend_aggregate(n: count_trends())';
    expect(results(source, 'E{p}@0 E{q}@1 E{p}@4 E{p}@5', 'k')).toEqual(['n=3', 'n=1', 'n=1']);
  });

  test('a result has the time of its window and reads its bounds', () => {
    const { pattern, trends } = trendsOf('E+ as e .window(5s) .trend_aggregate(n: count_trends(), from: window_start)');
    const harness = new TrendHarness(pattern, trends).push({ type: 'E', v: 1, k: null, time: 6000 });
    expect(harness.advance(9999).results).toEqual([]);
    const [row] = harness.advance(10000).results;
    expect([row?.time, row?.fields.get('from'), row?.attributes?.get('is_final')]).toEqual([
      9999,
      expect.objectContaining({ ms: 5000 }),
      true,
    ]);
  });

  test('the within of the pattern is the window where there is no other', () => {
    expect(results('E+ as e .within(5s) .trend_aggregate(n: count_trends())', 'E@0 E@4 E@5')).toEqual(['n=3', 'n=1']);
  });

  test('within bounds the trends of a longer window', () => {
    expect(results('E+ as e .within(2s) .window(1m) .trend_aggregate(n: count_trends())', 'E@0 E@2 E@3')).toEqual(['n=5']);
  });

  test('a window with events of the pattern and no trend counts none', () => {
    expect(
      results('A as a -> E+ as e .window(1m) .trend_aggregate(n: count_trends(), s: sum_trends(e.v), a: avg_trends(e.v))', 'A'),
    ).toEqual(['n=0 s=0 a=null']);
    expect(results('A as a -> E+ as e .window(1m) .trend_aggregate(n: count_trends())', 'E')).toEqual([]);
  });

  test('an alias reads the last event bound to it in that window', () => {
    expect(results('A as a -> E+ as e .window(1m) .trend_aggregate(n: count_trends(), a: a.v, e: e.v)', 'A1 A2 E3 E4')).toEqual([
      'n=6 a=2 e=4',
    ]);
  });

  test('an absence keeps trends apart', () => {
    expect(results('A as a -> NOT X -> E+ as e .window(1m) .trend_aggregate(n: count_trends())', 'A1 X A2 E')).toEqual(['n=1']);
  });

  test('events of a closed window are late', () => {
    const { pattern, trends } = trendsOf('E+ as e .window(5s) .trend_aggregate(n: count_trends())');
    const harness = new TrendHarness(pattern, trends);
    harness.push({ type: 'E', v: 1, k: null, time: 6000 });
    harness.push({ type: 'E', v: 2, k: null, time: 4000 });
    expect(harness.late).toHaveLength(1);
  });

  test('events held back by out_of_order count, however far time has jumped when they are seen', () => {
    const { plan } = check(
      new SourceText(
        'test.vpl',
        'stream S = E+ as e .window(5s) .watermark(out_of_order: 3s) .trend_aggregate(n: count_trends()) .emit(n: n)\n',
      ),
    );
    const seen: unknown[] = [];
    const engine = createEngine(plan as Plan, { output: ({ time, fields }) => seen.push([time, fields.get('n')]) });
    for (const time of [1000, 0, 20_000, 21_000]) engine.push({ type: 'E', fields: new Map(), timestamp: time, fallbackTime: time });
    engine.end();
    expect(seen).toEqual([
      [4999, 3],
      [24_999, 3],
    ]);
    expect(engine.counters().streams.get('S')?.late).toBe(0);
  });

  test('without edge predicates the groups of a window do not grow with its events', () => {
    const { pattern, trends } = trendsOf('SEQ(A as a, B+ as b, C as c) .window(1h) .trend_aggregate(n: count_trends())');
    const harness = new TrendHarness(pattern, trends);
    for (const event of events('A B C '.repeat(200))) harness.push(event);
    expect(harness.activeRuns).toBeLessThanOrEqual(3);
  });

  test('with an edge predicate there is a group for each event', () => {
    const { pattern, trends } = trendsOf('E+ where v > e.v as e .window(1h) .trend_aggregate(n: count_trends())');
    const harness = new TrendHarness(pattern, trends);
    for (const event of events(Array.from({ length: 50 }, (_, index) => `E${index}`).join(' '))) harness.push(event);
    expect(harness.activeRuns).toBe(50);
  });

  test('over max_runs the oldest groups are dropped and counted', () => {
    const { pattern, trends } = trendsOf('E+ where v > e.v as e .window(1h) .trend_aggregate(n: count_trends())');
    const harness = new TrendHarness({ ...pattern, runsMax: 10 }, trends);
    for (const event of events(Array.from({ length: 50 }, (_, index) => `E${index}`).join(' '))) harness.push(event);
    expect(harness.activeRuns).toBe(10);
    expect(harness.dropped.get('max_runs')).toBe(40);
  });
});

/** What the calls of the property are: everything about one step. */
function callsOf(slot: number): readonly TrendCall[] {
  const argument = { kind: 'field', type: ANY, of: { kind: 'current' }, name: 'v' } as const;
  const about = ['sum_trends', 'avg_trends', 'min_trends', 'max_trends'] as const;
  return [
    { function: 'count_trends', slot: null, argument: null },
    { function: 'count_events', slot, argument: null },
    ...about.map((name): TrendCall => ({ function: name, slot, argument })),
  ];
}

/** Each trend can be read into the pattern in one way only, so that counting ways is counting trends. */
function isUnambiguous(node: PatternNode, plan: PatternPlan, isRepeated = false): boolean {
  if (node.kind === 'step') return !isRepeated || (plan.steps[node.slot]?.max === 1 && plan.steps[node.slot]?.min === 1);
  if (node.kind === 'group')
    return (!isRepeated || node.max === 1) && isUnambiguous(node.item, plan, isRepeated || node.max > 1 || node.min === 0);
  return node.items.every((item) => isUnambiguous(item, plan, isRepeated));
}

function byWindow(all: readonly TestEvent[], windowMs: number): ReadonlyMap<number, readonly TestEvent[]> {
  const windows = new Map<number, TestEvent[]>();
  for (const event of all) {
    const window = Math.floor(event.time / windowMs);
    windows.set(window, [...(windows.get(window) ?? []), event]);
  }
  return windows;
}

describe('trends against brute force', () => {
  const runs = Number(process.env['FUZZ_RUNS'] ?? 300);
  const cases = fc.tuple(randomPattern, randomEvents, fc.constantFrom(4000, 9000, 60000), fc.nat(), fc.nat({ max: 8 }));

  test('every result is that of the trends written out, with a restart at any point', () => {
    fc.assert(
      fc.property(cases, ([drawn, input, windowMs, slot, restartAt]) => {
        const plan: PatternPlan = { ...drawn, selection: 'any', emission: 'longest', afterMatch: 'no_skip', cancels: [], monotone: null };
        fc.pre(isCovered(plan) && isUnambiguous(plan.root, plan));
        const calls = callsOf(slot % plan.steps.length);
        const harness = new TrendHarness(plan, trendPlan(calls, windowMs));
        input.forEach((event, index) => {
          if (index === restartAt) harness.restart();
          harness.push(event);
        });
        harness.advance(Infinity);
        const found = new Map(harness.results.map((row) => [Math.floor(row.time / windowMs), [...row.fields.values()]]));
        for (const [window, inside] of byWindow(input, windowMs)) {
          const expected = naive(plan, inside, calls, (window + 1) * windowMs);
          fc.pre(expected !== null);
          expect(found.get(window) ?? [0, 0, 0, null, null, null]).toEqual(expected);
        }
      }),
      { numRuns: runs, maxSkipsPerRun: 1000 },
    );
  });
});

function naive(plan: PatternPlan, inside: readonly TestEvent[], calls: readonly TrendCall[], windowEnd: number): readonly unknown[] | null {
  try {
    return naiveTrends(plan, inside, calls, windowEnd);
  } catch (thrown) {
    if (thrown instanceof TooManyWords) return null;
    throw thrown;
  }
}
