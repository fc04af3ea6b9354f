import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGGREGATE_NAMES, AGGREGATES, aggregated, asSeen, lateOutput } from './naive-aggregates.ts';
import { EVENT, inputs, moments, ms, outputsOf, seenAt, type TestEvent, type Timeline, timeOperators, watermarkAt } from './timeline.ts';

const RUNS = Number(process.env['WINDOW_RUNS'] ?? 150);

function programOf(aggregates: readonly string[], outOfOrderUs: number, expireUs: number | null = null): string {
  const names = AGGREGATE_NAMES.filter((name) => aggregates.some((one) => one.startsWith(`${name}:`)));
  const late = outOfOrderUs > 0 ? 'stream L = R.late.emit(i: i)\n' : '';
  const partition = expireUs === null ? 'k' : `k, expire: ${expireUs}us`;
  return `${EVENT}stream R = E.partition_by(${partition})${timeOperators(outOfOrderUs, 0)}.aggregate(${aggregates.join(', ')}).emit(k: k, ${names.map((name) => `${name}: ${name}`).join(', ')})
${late}`;
}

function resultOf(event: TestEvent, seen: readonly TestEvent[], aggregates: readonly string[]): string {
  const all = aggregated(seen);
  const names = AGGREGATE_NAMES.filter((name) => aggregates.some((one) => one.startsWith(`${name}:`)));
  return `R@${ms(event.us)} ${JSON.stringify({ k: event.k, ...Object.fromEntries(names.map((name) => [name, all[name]])) })}`;
}

/** What each event gives when it is seen at once. */
function atOnce(events: readonly TestEvent[], aggregates: readonly string[]): readonly string[] {
  return events.map((event) =>
    resultOf(
      event,
      events.filter((other) => other.k === event.k && other.index <= event.index),
      aggregates,
    ),
  );
}

/** What they give when each is held until the watermark reaches it. */
function inOrder(timeline: Timeline, aggregates: readonly string[]): readonly string[] {
  const isLate = (event: TestEvent): boolean => event.us < watermarkAt(timeline, event.index);
  const seen = asSeen(
    timeline.events.filter((event) => !isLate(event)),
    1,
  );
  const upTo = (event: TestEvent): readonly TestEvent[] => seen.slice(0, seen.indexOf(event) + 1).filter((other) => other.k === event.k);
  return moments(timeline.events).flatMap((moment) => {
    const [before, now] = [watermarkAt(timeline, moment - 1), watermarkAt(timeline, moment)];
    const due = seen.filter((event) => event.index < moment && before < event.us && event.us <= now);
    const lines = due.map((event) => resultOf(event, upTo(event), aggregates));
    const arriving = timeline.events[moment];
    if (arriving === undefined) return lines;
    if (isLate(arriving)) return [...lines, lateOutput(arriving)];
    return arriving.us === now ? [...lines, resultOf(arriving, upTo(arriving), aggregates)] : lines;
  });
}

describe('an aggregate without a window', () => {
  test('gives one result per event over everything so far of its key', () => {
    fc.assert(
      fc.property(inputs(), (events) => {
        expect(outputsOf(programOf(AGGREGATES, 0), events)).toEqual(atOnce(events, AGGREGATES));
      }),
      { numRuns: RUNS },
    );
  });

  test('holds events for their order only where a result tells it', () => {
    const unordered = ['n: count()', 'total: sum(v * 2)', 'high: max(v)', 'best: top(v, 2)'];
    fc.assert(
      fc.property(inputs(), (events) => {
        expect(outputsOf(programOf(unordered, 5_000).replace(/stream L.*\n/, ''), events)).toEqual(atOnce(events, unordered));
      }),
      { numRuns: RUNS },
    );
  });

  test.each([['head: first(i)'], ['tail: last(v)'], ['all: collect(i)'], ['smooth: round(ema(v, 3), 6)']])(
    'sees events in order of event time with out_of_order: %s',
    (aggregate) => {
      const aggregates = ['n: count()', aggregate];
      fc.assert(
        fc.property(inputs(), fc.constantFrom(5_000, 30_000), (events, outOfOrderUs) => {
          const expected = inOrder({ events, outOfOrderUs }, aggregates);
          expect(outputsOf(programOf(aggregates, outOfOrderUs), events)).toEqual(expected);
        }),
        { numRuns: RUNS },
      );
    },
  );

  test('starts afresh when its key has expired, and is the same when restored at any point', () => {
    fc.assert(
      fc.property(inputs({ displacedMs: 3 }), fc.nat({ max: 18 }), (events, restartAt) => {
        const program = programOf(AGGREGATES, 0, 10_000);
        const since = (event: TestEvent): readonly TestEvent[] => {
          let kept: TestEvent[] = [];
          for (const other of events.slice(0, event.index + 1)) {
            const last = Math.max(...kept.map((one) => seenAt({ events, outOfOrderUs: 0 }, one)));
            const now = Math.max(...events.slice(0, other.index + 1).map((one) => one.us));
            if (now > last + 10_000) kept = [];
            if (other.k === event.k) kept.push(other);
          }
          return kept;
        };
        const expected = events.map((event) => resultOf(event, since(event), AGGREGATES));
        expect(outputsOf(program, events, { restartAt })).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });
});
