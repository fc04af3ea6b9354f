import type { Fields } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { AttributeName } from '../../../shared/language/plan/plan.ts';

/** What a slot of a match or a join result holds: one row, the captures of a closure in order, or nothing. */
export type Binding = Row | readonly Row[] | null;

/** A row on its way through a stream: an event, a result, a match. Immutable; operators make new ones. */
export interface Row {
  /** `event_type`: the original type until an emit. */
  readonly type: string;
  /** Event time, epoch ms. */
  readonly time: number;
  /**
   * Arrival number: the external event it came with or that completed it (1, 2, ..). Rows made by time alone carry the
   * number of the last external event. Ties of equal time are broken by it.
   */
  readonly order: number;
  readonly fields: Fields;
  /** Slots of the pattern match or join this row is; null for any other row. */
  readonly bound: readonly Binding[] | null;
  readonly attributes: ReadonlyMap<AttributeName, Value> | null;
  /** Identity of what caused it: `match_id` and output ids are made from these. Sorted arrival numbers, no repeats. */
  readonly causes: readonly number[];
  /**
   * Only on a match, until an operator replaces its fields: the match's last event, of which a bare name that the match
   * has not is a field. The stream sets it behind a pattern (`lastRow`); whoever copies a row copies it.
   */
  readonly last?: Row;
}

/** Where an expression runs. `bound` is the row's own, or in a pattern what the run holds so far. */
export interface Scope {
  readonly row: Row;
  readonly bound: readonly Binding[];
  /** Results of the aggregate calls, where an aggregate's items are evaluated. */
  readonly aggregates: readonly Value[];
  /** Slots of lambdas and function activations. Grows as needed. */
  readonly locals: Value[];
}

/** An expression made ready to run. Throws `EvaluationError` on a failure. */
export type Evaluate = (scope: Scope) => Value;

const NOTHING: readonly never[] = [];

/** The scope of an expression over a row alone. */
export function scopeOf(row: Row, aggregates: readonly Value[] = NOTHING): Scope {
  return { row, bound: row.bound ?? NOTHING, aggregates, locals: [] };
}

/**
 * A scope to be used again and again, for an owner that evaluates one row after the other: what it gave for the row before
 * is no longer valid.
 */
export function reusableScope(): (row: Row, bound?: readonly Binding[]) => Scope {
  const scope: { -readonly [K in keyof Scope]: Scope[K] } = { ...scopeOf(NO_ROW) };
  return (row, bound = row.bound ?? NOTHING) => {
    scope.row = row;
    scope.bound = bound;
    return scope;
  };
}

/** Stands for a row of which nothing is read. */
export const NO_ROW: Row = { type: '', time: 0, order: 0, fields: new Map(), bound: null, attributes: null, causes: [] };

/** What followers see of a row: its fields, not what it was bound to inside the stream. */
export function asResult(row: Row): Row {
  if (row.bound === null && row.last === undefined) return row;
  const { type, time, order, fields, attributes, causes } = row;
  return { type, time, order, fields, bound: null, attributes, causes };
}

/** The latest of the rows that a match holds, by time, then by arrival; null when it holds none. */
export function lastRow(bound: readonly Binding[]): Row | null {
  let last: Row | null = null;
  for (const row of bound.flat()) {
    if (row === null) continue;
    if (last === null || row.time > last.time || (row.time === last.time && row.order > last.order)) last = row;
  }
  return last;
}
