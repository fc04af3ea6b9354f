import type { Type } from '../../plan/types.ts';
import type { AggregateDescriptor } from '../descriptor.ts';
import { collect } from './collect.ts';
import { count, countDistinct, rate } from './count.ts';
import { ema } from './ema.ts';
import { first, last } from './ends.ts';
import { max, min, top } from './extremes.ts';
import { median, p50, p90, p95, p99, percentile } from './quantiles.ts';
import { stddev, variance } from './spread.ts';
import { avg, sum } from './sum.ts';

/** Every aggregate, in the order in which the docs list them. */
export const aggregateList: readonly AggregateDescriptor[] = [
  count,
  sum,
  avg,
  min,
  max,
  stddev,
  variance,
  median,
  percentile,
  p50,
  p90,
  p95,
  p99,
  first,
  last,
  countDistinct,
  collect,
  top,
  ema,
  rate,
];

/** Every aggregate by its name and its aliases. */
export const aggregates: ReadonlyMap<string, AggregateDescriptor> = new Map(
  aggregateList.flatMap((aggregate) => [aggregate.name, ...(aggregate.aliases ?? [])].map((name) => [name, aggregate] as const)),
);

/** What runs a call of an aggregate with an argument of this type. */
export function aggregateOver(name: string, argument: Type | undefined): AggregateDescriptor | undefined {
  const aggregate = aggregates.get(name);
  return argument?.kind === 'duration' ? (aggregate?.ofDurations ?? aggregate) : aggregate;
}
