import type { Value } from '../../../../shared/events/value.ts';
import { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import type { TrendAggregatePlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { plus } from '../../time/instants.ts';
import { causesBetween, frameAttributes, type PreparedItem, prepareItem, resultFields } from '../../windows/window-result.ts';
import type { TrendTotals } from './trend-totals.ts';

/** A window that has ended, as its result tells of it. */
export interface EndedTrends {
  readonly start: number;
  readonly end: number;
  /** Of the last event. */
  readonly type: string;
  readonly keys: readonly (readonly [string, Value])[];
  readonly firstCause: number;
  readonly lastCause: number;
  /** By slot, the last event that a trend took there. */
  readonly bound: readonly (Row | null)[];
  readonly completed: TrendTotals;
}

/** Makes the rows that windows of trends give. */
export class TrendResults {
  readonly #plan: TrendAggregatePlan;
  readonly #next: Next;
  readonly #environment: OperatorEnvironment;
  readonly #items: readonly PreparedItem[];

  constructor(plan: TrendAggregatePlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = plan;
    this.#next = next;
    this.#environment = environment;
    this.#items = plan.items.map((item) => prepareItem(item, environment));
  }

  /** Hands on the result, and says that the window has ended. */
  give({ start, end, type, keys, firstCause, lastCause, bound, completed }: EndedTrends): void {
    const frame = { time: plus(end, -1), start, end, isFinal: true, lengthMs: this.#plan.windowMs };
    const row: Row = {
      type,
      time: frame.time,
      order: this.#environment.order(),
      fields: new Map(keys),
      bound,
      attributes: frameAttributes(frame),
      causes: causesBetween(firstCause, lastCause),
    };
    const results = this.#plan.calls.map((call, index) => completed.result(call, index));
    const fields = this.#fieldsOf(row, results, keys);
    if (fields !== null) this.#next.process({ ...row, fields });
    this.#next.endWindow(frame);
  }

  /** Null when an item fails: that is reported, and the window has ended all the same. */
  #fieldsOf(row: Row, results: readonly Value[], keys: readonly (readonly [string, Value])[]): Row['fields'] | null {
    try {
      return resultFields(this.#items, row, results, keys);
    } catch (thrown) {
      if (!(thrown instanceof EvaluationError)) throw thrown;
      this.#environment.fail(thrown, row, null);
      return null;
    }
  }
}
