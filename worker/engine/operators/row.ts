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
