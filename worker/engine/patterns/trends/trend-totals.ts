import { compareValues } from '../../../../shared/events/text.ts';
import { Duration, kindOf, type Value, type ValueArray } from '../../../../shared/events/value.ts';
import { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import type { TrendCall } from '../../../../shared/language/plan/plan.ts';
import { DyadicSum } from './dyadic-sum.ts';

/** What one call knows of a set of trends. */
export interface CallTotal {
  /** Events (with a value, where there is an argument) over all trends: one that stands in many counts as often. */
  readonly events: bigint;
  readonly sum: DyadicSum;
  readonly min: Value;
  readonly max: Value;
}

/** The value of each call's argument for one event; undefined where the call is about another step. */
export type EventValues = readonly (Value | undefined)[];

const NOTHING: CallTotal = { events: 0n, sum: DyadicSum.ZERO, min: null, max: null };

/**
 * A set of trends, as far as results need it: how many there are, and the totals of each call. Immutable. Counts and sums
 * are exact, however many trends there are.
 */
export class TrendTotals {
  readonly count: bigint;
  readonly #calls: readonly CallTotal[];

  constructor(count: bigint, calls: readonly CallTotal[]) {
    this.count = count;
    this.#calls = calls;
  }

  static none(calls: number): TrendTotals {
    return new TrendTotals(0n, new Array<CallTotal>(calls).fill(NOTHING));
  }

  /** One trend that has no event yet. */
  static one(calls: number): TrendTotals {
    return new TrendTotals(1n, new Array<CallTotal>(calls).fill(NOTHING));
  }

  /** What is known for one call. */
  of(call: number): CallTotal {
    return this.#calls[call] ?? NOTHING;
  }

  /** Every trend of the set with one more event. */
  with(values: EventValues): TrendTotals {
    return new TrendTotals(
      this.count,
      this.#calls.map((total, call) => {
        const value = values[call];
        return value === undefined ? total : this.#withValue(total, value);
      }),
    );
  }

  #withValue(total: CallTotal, value: Value): CallTotal {
    if (value === null) return total;
    return {
      events: total.events + this.count,
      sum: typeof value === 'number' ? total.sum.plus(value, this.count) : total.sum,
      min: lesser(total.min, value),
      max: greater(total.max, value),
    };
  }

  /** Both sets together; no trend stands in both. */
  union(other: TrendTotals): TrendTotals {
    return new TrendTotals(
      this.count + other.count,
      this.#calls.map((total, call) => {
        const more = other.#calls[call] as CallTotal;
        return {
          events: total.events + more.events,
          sum: total.sum.add(more.sum),
          min: lesser(total.min, more.min),
          max: greater(total.max, more.max),
        };
      }),
    );
  }

  result(call: TrendCall, index: number): Value {
    const { events, sum, min, max } = this.#calls[index] as CallTotal;
    switch (call.function) {
      case 'count_trends':
        return countValue(this.count);
      case 'count_events':
        return countValue(events);
      case 'sum_trends':
        return finite(sum.over(1n));
      case 'avg_trends':
        return events === 0n ? null : finite(sum.over(events));
      case 'min_trends':
        return min;
      case 'max_trends':
        return max;
    }
  }

  save(): Value {
    return [this.count.toString(), this.#calls.map(({ events, sum, min, max }) => [events.toString(), [...sum.save()], min, max])];
  }

  static load(saved: Value): TrendTotals {
    const [count, calls] = saved as ValueArray;
    return new TrendTotals(
      BigInt(count as string),
      (calls as ValueArray).map((one) => {
        const [events, sum, min, max] = one as ValueArray;
        const loaded = DyadicSum.load(sum as unknown as readonly [string, number]);
        return { events: BigInt(events as string), sum: loaded, min: min ?? null, max: max ?? null };
      }),
    );
  }
}

/** Counts are whole numbers up to 2^53 and decimal text beyond, so none is ever rounded. */
function countValue(count: bigint): Value {
  return count <= 2n ** 53n ? Number(count) : count.toString();
}

function finite(value: number): Value {
  return Number.isFinite(value) ? value : null;
}

function lesser(a: Value, b: Value): Value {
  return a === null || (b !== null && ordered(a, b) > 0) ? b : a;
}

function greater(a: Value, b: Value): Value {
  return a === null || (b !== null && ordered(a, b) < 0) ? b : a;
}

function ordered(a: Value, b: Value): number {
  const order = compareValues(a, b);
  if (order === undefined) throw new EvaluationError(`cannot compare ${kindOf(a)} and ${kindOf(b)}`);
  return order;
}

/** The argument of a call as it is added up: sums and averages take numbers, and durations as milliseconds. */
export function summand(call: TrendCall, value: Value): Value {
  if (call.function !== 'sum_trends' && call.function !== 'avg_trends') return value;
  if (value instanceof Duration) return value.ms;
  if (value === null || typeof value === 'number') return value;
  throw new EvaluationError(`cannot add up ${kindOf(value)}`);
}
