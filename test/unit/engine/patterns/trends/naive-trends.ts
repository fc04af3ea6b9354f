import type { Value } from '../../../../../shared/events/value.ts';
import type { PatternPlan, TrendCall } from '../../../../../shared/language/plan/plan.ts';
import type { Row } from '../../../../../worker/engine/operators/row.ts';
import { Harness, rowOf, type TestEvent } from '../harness.ts';
import { Oracle } from '../oracle.ts';

/** The result of each call over all trends of the events of one window, each of them written out. */
export function naiveTrends(
  plan: PatternPlan,
  events: readonly TestEvent[],
  calls: readonly TrendCall[],
  windowEnd: number,
): readonly Value[] {
  const rows = events.map((event, index) => rowOf(event, index + 1));
  const harness = new Harness(plan);
  const every: PatternPlan = { ...plan, selection: 'any', emission: 'longest', afterMatch: 'no_skip' };
  const oracle = new Oracle(every, rows, {
    expression: (expression) => harness.expression(expression),
    partition: () => '',
    until: windowEnd,
  });
  const trends = oracle.run().map(({ captures }) => captures);
  return calls.map((call) => resultOf(call, trends, rows));
}

function resultOf(call: TrendCall, trends: readonly (readonly (readonly number[])[])[], rows: readonly Row[]): Value {
  if (call.function === 'count_trends') return trends.length;
  const events = trends.flatMap((captures) => captures[call.slot ?? 0] ?? []);
  if (call.function === 'count_events') return events.length;
  const values = events.map((event) => rows[event]?.fields.get('v')).filter((value): value is number => typeof value === 'number');
  const sum = values.reduce((total, value) => total + value, 0);
  switch (call.function) {
    case 'sum_trends':
      return sum;
    case 'avg_trends':
      return values.length === 0 ? null : sum / values.length;
    case 'min_trends':
      return values.length === 0 ? null : Math.min(...values);
    case 'max_trends':
      return values.length === 0 ? null : Math.max(...values);
  }
}
