import { expect, it } from 'vitest';
import { briefExplanation } from '../../../cli/explaining/brief-explanation.ts';
import type { Value } from '../../../shared/events/value.ts';
import { planOf } from '../../scenarios/run-program.ts';
import { start } from '../engine/support/engine-run.ts';

type Event = readonly [type: string, time: number, fields?: Readonly<Record<string, Value>>];

const two: readonly Event[] = [
  ['A', 0, { k: 'x', v: 1 }],
  ['A', 1_000, { k: 'x', v: 1 }],
];

/** By what keeps the last event back: the stream, and what is said of it. */
const silent: Readonly<Record<string, readonly [stream: string, told: RegExp, events?: readonly Event[]]>> = {
  filter: ['A.where(v > 5)', /v \(1\) > 5/],
  limit: ['A.limit(1)', /it has passed 1 already/],
  distinct: ['A.distinct(k)', /k \("x"\) has passed before/],
  dedupe: ['A.dedupe(k, within: 1m)', /has passed before/],
  throttle: ['A.throttle(1, per: 1m)', /it has passed 1 in that time/],
  window: ['A.window(1m)', /holds 2 events and closes at @1m/],
  'a window by number': ['A.window(3)', /needs 1 more event/],
  'an aggregate': ['A.window(1m).aggregate(n: count())', /holds 2 events and closes at @1m/],
  'the condition of a window': ['A.window(1).aggregate(n: count()).having(n > 5)', /n \(1\) > 5/],
  'what a window must look like': [
    'A.window(2).pattern(rise: events => len(events) > 5)',
    /was held back by window\(2\).*: len\(events\) \(2\) > 5/,
  ],
  pattern: ['A as a -> B as b .within(1m)', /waits for B as b/],
  'a pattern that nothing begins': ['A where v > 5 as a -> B as b .within(1m)', /no run began: .*v \(1\) > 5/],
  join: ['join(A, B).on(A.k == B.k).window(10s)', /the join lacks B/],
  'a join of three': [
    'join(A, B, C).on(A.k == B.k and A.k == C.k and B.v > A.v).window(10s)',
    /does not join: B\.v \(1\) > A\.v \(1\)/,
    [two[0] as Event, ['B', 1_000, { k: 'x', v: 1 }], ['C', 2_000, { k: 'x' }]],
  ],
  'a join on null': ['join(A, B).on(A.k == B.k).window(10s)', /its key is null, and null joins nothing/, [['A', 0, { k: null }]]],
  trends: ['all A where v > 0 as x .within(1m).trend_aggregate(n: count_trends())', /has an open window, which closes at @1m/],
  'trends that nothing begins': ['all A where v > 5 as x .within(1m).trend_aggregate(n: count_trends())', /no trend began: .*v \(1\) > 5/],
};

it.each(Object.entries(silent))('%s says why it gives nothing', (_, [stream, told, events = two]) => {
  const engine = start(planOf(`stream S = ${stream}\n`), { explain: true });
  for (const event of events) engine.push(...event);
  expect(briefExplanation(engine.engine.explain('S'))).toMatch(told);
});
