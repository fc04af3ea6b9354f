import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGGREGATES, asSeen, EMIT, outputOf } from './naive-aggregates.ts';
import { EVENT, inputs, moments, ms, outputsOf, seenAt, type TestEvent, type Timeline, timeOperators, watermarkAt } from './timeline.ts';

const RUNS = Number(process.env['WINDOW_RUNS'] ?? 150);
const SIZE_US = 10_000;

interface Closed {
  readonly startUs: number;
  readonly events: readonly TestEvent[];
}

/** The windows of 10 ms in the order in which they close, each with the moment at which it does. */
function closings(timeline: Timeline, expireUs: number | null): readonly (readonly Closed[])[] {
  const windows = new Map<string, { startUs: number; events: TestEvent[] }>();
  for (const event of timeline.events) {
    const startUs = Math.floor(event.us / SIZE_US) * SIZE_US;
    if (startUs + SIZE_US <= watermarkAt(timeline, event.index)) continue;
    const name = `${event.k} ${startUs}`;
    const window = windows.get(name) ?? { startUs, events: [] };
    if (hasExpired(timeline, event, expireUs)) window.events = [];
    window.events.push(event);
    windows.set(name, window);
  }
  const first = ({ events }: Closed): number => (events[0] as TestEvent).index;
  return moments(timeline.events).map((moment) => {
    const [before, now] = [watermarkAt(timeline, moment - 1), watermarkAt(timeline, moment)];
    return [...windows.values()]
      .filter(({ startUs }) => before < startUs + SIZE_US && startUs + SIZE_US <= now)
      .sort((a, b) => a.startUs - b.startUs || first(a) - first(b));
  });
}

/** Whether what its key held was dropped before this event. Windows shorter than the expiry lose nothing at their end. */
function hasExpired(timeline: Timeline, event: TestEvent, expireUs: number | null): boolean {
  const earlier = timeline.events.filter((other) => other.k === event.k && other.index < event.index);
  const before = earlier.map((other) => seenAt(timeline, other));
  return expireUs !== null && before.length > 0 && event.us > Math.max(...before) + expireUs;
}

function program(operators: string, outOfOrderUs: number, partition = 'k'): string {
  return `${EVENT}stream W = E.partition_by(${partition})${timeOperators(outOfOrderUs, 0)}.window(10ms)${operators}\n`;
}

const emitRow = '.emit(i: i, s: window_start, f: is_final)';
const row =
  (startUs: number, isResult: boolean) =>
  ({ index, us }: TestEvent): string =>
    `W@${ms(isResult ? startUs + SIZE_US - 1000 : us)} ${JSON.stringify({ i: index, s: ms(startUs), f: true })}`;

const orders = fc.constantFrom(0, 0, 6_000, 30_000);

/** Holds what operators behind a window give to what a function of the window's events says. `isResult`: at the time of the window. */
function perWindow(operators: string, expected: (events: readonly TestEvent[]) => readonly TestEvent[], isResult = false): void {
  fc.assert(
    fc.property(inputs({ stepMs: 6 }), orders, (events, outOfOrderUs) => {
      const timeline = { events, outOfOrderUs };
      const lines = closings(timeline, null).flatMap((closed) =>
        closed.flatMap((window) => expected(asSeen(window.events, outOfOrderUs)).map(row(window.startUs, isResult))),
      );
      expect(outputsOf(program(operators + emitRow, outOfOrderUs), events)).toEqual(lines);
    }),
    { numRuns: RUNS },
  );
}

function rising(events: readonly TestEvent[]): boolean {
  const [first, last] = [events[0], events.at(-1)];
  return events.length >= 2 && first !== undefined && last !== undefined && first.index < last.index;
}

function byValue(events: readonly TestEvent[], sign: number): readonly TestEvent[] {
  return [...events].sort((a, b) => {
    if (a.v === null || b.v === null) return (a.v === null ? 1 : 0) - (b.v === null ? 1 : 0);
    return (a.v - b.v) * sign;
  });
}

function firstOfEach(events: readonly TestEvent[]): readonly TestEvent[] {
  return events.filter((event, at) => events.findIndex((other) => other.v === event.v) === at);
}

describe('a window without aggregate', () => {
  test('hands on each of its events in order, with its own time', () => perWindow('', (events) => events));
  test('orders them by a value, nulls last and ties as they came', () => perWindow('.order_by(v desc)', (events) => byValue(events, -1)));
  test('gives the first n', () => perWindow('.limit(2)', (events) => events.slice(0, 2)));
  test('gives the smallest', () => perWindow('.order_by(v).first()', (events) => byValue(events, 1).slice(0, 1)));
  test('gives the last', () => perWindow('.last()', (events) => events.slice(-1)));
  test('gives the first of each value', () => perWindow('.distinct(v)', firstOfEach));
  test('filters, then limits', () =>
    perWindow('.where(v > 2).limit(1)', (events) => events.filter(({ v }) => v !== null && v > 2).slice(0, 1)));
  test('gives one row of its last event when a predicate over its events holds, else nothing', () =>
    perWindow(
      '.pattern(p: events => len(events) >= 2 and events[0].i < events[-1].i)',
      (events) => (rising(events) ? events.slice(-1) : []),
      true,
    ));
});

describe('an aggregate behind a window', () => {
  const aggregate = `.aggregate(${AGGREGATES.join(', ')})${EMIT}`;

  test('behind a filter takes what came through, and nothing of a window of which nothing did', () => {
    fc.assert(
      fc.property(inputs({ stepMs: 6 }), orders, (events, outOfOrderUs) => {
        const expected = closings({ events, outOfOrderUs }, null).flatMap((closed) =>
          closed.flatMap(({ startUs, events: all }) => {
            const seen = asSeen(all, outOfOrderUs).filter(({ v }) => v !== null && v > 2);
            const endUs = startUs + SIZE_US;
            const result = { key: all[0]?.k ?? null, seen, timeUs: endUs - 1000, startUs, endUs, isFinal: true };
            return seen.length === 0 ? [] : [outputOf('W', result)];
          }),
        );
        expect(outputsOf(program(`.where(v > 2)${aggregate}`, outOfOrderUs), events)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test('of a key that expires takes what came since', () => {
    fc.assert(
      fc.property(inputs({ stepMs: 8, displacedMs: 5 }), (events) => {
        const expireUs = 12_000;
        const expected = closings({ events, outOfOrderUs: 0 }, expireUs).flatMap((closed) =>
          closed.map(({ startUs, events: all }) => {
            const endUs = startUs + SIZE_US;
            return outputOf('W', { key: all[0]?.k ?? null, seen: all, timeUs: endUs - 1000, startUs, endUs, isFinal: true });
          }),
        );
        expect(outputsOf(program(aggregate, 0, `k, expire: ${expireUs}us`), events)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });
});
