import { compareValues } from '../../../../shared/events/text.ts';
import { Duration, kindOf, type Value } from '../../../../shared/events/value.ts';
import { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import { fingerprint } from '../../../../shared/language/plan/fingerprint.ts';
import type { PlanExpression, TrendCall } from '../../../../shared/language/plan/plan.ts';
import { anyValue, list, record, type Saved, wholeNumber } from '../../state/codec.ts';
import { DyadicSum, savedSum } from './dyadic-sum.ts';

/** What is kept of a set of trends, besides how many there are. */
export interface TrendColumn {
  readonly kind: 'events' | 'sum' | 'min' | 'max';
  /** The step whose events it is about. */
  readonly slot: number;
  /** Null: every event of the step counts. */
  readonly argument: PlanExpression | null;
}

/** What each function needs. */
const KINDS: Readonly<Record<TrendCall['function'], readonly TrendColumn['kind'][]>> = {
  count_trends: [],
  count_events: ['events'],
  sum_trends: ['sum'],
  avg_trends: ['events', 'sum'],
  min_trends: ['min'],
  max_trends: ['max'],
};

/** The columns of all calls of a `.trend_aggregate`; equal ones are one. */
export class TrendColumns {
  readonly calls: readonly TrendCall[];
  readonly all: readonly TrendColumn[];
  /** By call. */
  readonly #positions: readonly Partial<Record<TrendColumn['kind'], number>>[];

  constructor(calls: readonly TrendCall[]) {
    const columns = new Map<string, TrendColumn>();
    this.calls = calls;
    this.#positions = calls.map(({ function: name, slot, argument }) => {
      const positionOf = (kind: TrendColumn['kind']): number => {
        const key = `${kind} ${slot} ${fingerprint(argument)}`;
        if (!columns.has(key)) columns.set(key, { kind, slot: slot as number, argument });
        return [...columns.keys()].indexOf(key);
      };
      return Object.fromEntries(KINDS[name].map((kind) => [kind, positionOf(kind)]));
    });
    this.all = [...columns.values()];
  }

  /** The column of a call; undefined = it has none of the kind. */
  of(call: number, kind: TrendColumn['kind']): number | undefined {
    return this.#positions[call]?.[kind];
  }
}

/** What is known of a column: how many events, their sum, or the least or greatest value (null = none). */
export type Total = bigint | DyadicSum | Value;

/** By column, the value of its argument for one event; undefined where the column is about another step. */
export type EventValues = readonly (Value | undefined)[];

/** As totals are saved: every kind for each call. */
export const savedTotals = record({
  count: wholeNumber,
  calls: list(record({ events: wholeNumber, sum: savedSum, min: anyValue, max: anyValue })),
});

/**
 * A set of trends, as far as results need it: how many there are, and what is known of each column. Immutable. Counts and sums are
 * exact, however many trends there are. An event that stands in several trends counts as often.
 */
export class TrendTotals {
  readonly count: bigint;
  readonly totals: readonly Total[];
  readonly #columns: TrendColumns;

  constructor(columns: TrendColumns, count: bigint, totals: readonly Total[]) {
    this.count = count;
    this.totals = totals;
    this.#columns = columns;
  }

  /** So many trends without events. */
  static empty(columns: TrendColumns, count: bigint): TrendTotals {
    return new TrendTotals(
      columns,
      count,
      columns.all.map(({ kind }) => nothing(kind)),
    );
  }

  /**
   * Both sets together; no trend stands in both. `values`: those of an event that each trend of the other set takes first; null = none.
   * @throws EvaluationError for values that have no order
   */
  plus(other: TrendTotals, values: EventValues | null): TrendTotals {
    const { all } = this.#columns;
    const totals: Total[] = [];
    for (let at = 0; at < all.length; at++) {
      const { kind } = all[at] as TrendColumn;
      const value = values?.[at] ?? null;
      const both = added(kind, this.totals[at] as Total, other.totals[at] as Total);
      totals.push(value === null ? both : withValue(kind, both, value, other.count));
    }
    return new TrendTotals(this.#columns, this.count + other.count, totals);
  }

  result(call: number): Value {
    const read = (kind: TrendColumn['kind']): Total => this.totals[this.#columns.of(call, kind) as number] as Total;
    switch ((this.#columns.calls[call] as TrendCall).function) {
      case 'count_trends':
        return countValue(this.count);
      case 'count_events':
        return countValue(read('events') as bigint);
      case 'sum_trends':
        return finite((read('sum') as DyadicSum).over(1n));
      case 'avg_trends':
        return read('events') === 0n ? null : finite((read('sum') as DyadicSum).over(read('events') as bigint));
      case 'min_trends':
        return read('min') as Value;
      case 'max_trends':
        return read('max') as Value;
    }
  }

  save(): Saved<typeof savedTotals> {
    const { calls } = this.#columns;
    const read = <T>(call: number, kind: TrendColumn['kind']): T => {
      const at = this.#columns.of(call, kind);
      return (at === undefined ? nothing(kind) : this.totals[at]) as T;
    };
    return {
      count: this.count,
      calls: calls.map((_, at) => ({ events: read(at, 'events'), sum: read(at, 'sum'), min: read(at, 'min'), max: read(at, 'max') })),
    };
  }

  static load(columns: TrendColumns, { count, calls }: Saved<typeof savedTotals>): TrendTotals {
    const totals: Total[] = columns.all.map(({ kind }) => nothing(kind));
    calls.forEach((call, at) => {
      for (const kind of ['events', 'sum', 'min', 'max'] as const) {
        const column = columns.of(at, kind);
        if (column !== undefined) totals[column] = call[kind];
      }
    });
    return new TrendTotals(columns, count, totals);
  }
}

function nothing(kind: TrendColumn['kind']): Total {
  if (kind === 'events') return 0n;
  return kind === 'sum' ? DyadicSum.ZERO : null;
}

function withValue(kind: TrendColumn['kind'], total: Total, value: Value, count: bigint): Total {
  switch (kind) {
    case 'events':
      return (total as bigint) + count;
    case 'sum':
      return (total as DyadicSum).plus(value as number, count);
    case 'min':
    case 'max':
      return better(kind, total as Value, value);
  }
}

function added(kind: TrendColumn['kind'], total: Total, other: Total): Total {
  switch (kind) {
    case 'events':
      return (total as bigint) + (other as bigint);
    case 'sum':
      return (total as DyadicSum).add(other as DyadicSum);
    case 'min':
    case 'max':
      return better(kind, total as Value, other as Value);
  }
}

function better(kind: 'min' | 'max', a: Value, b: Value): Value {
  if (a === null || b === null) return a ?? b;
  const order = compareValues(a, b);
  if (order === undefined) throw new EvaluationError(`cannot compare ${kindOf(a)} and ${kindOf(b)}`);
  return (kind === 'min' ? order > 0 : order < 0) ? b : a;
}

/** Counts are whole numbers up to 2^53 and decimal text beyond, so none is ever rounded. */
function countValue(count: bigint): Value {
  return count <= 2n ** 53n ? Number(count) : count.toString();
}

function finite(value: number): Value {
  return Number.isFinite(value) ? value : null;
}

/** The value of an argument as a column takes it: sums take numbers, and durations as milliseconds. @throws EvaluationError for others */
export function summand({ kind }: TrendColumn, value: Value): Value {
  if (kind !== 'sum') return value;
  if (value instanceof Duration) return value.ms;
  if (value === null || typeof value === 'number') return value;
  throw new EvaluationError(`cannot add up ${kindOf(value)}`);
}
