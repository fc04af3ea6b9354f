import type { Value } from '../../../shared/events/value.ts';
import type { WindowAggregatePlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { StatelessOperator } from '../operators/stateless-operator.ts';
import { Aggregation } from './aggregation.ts';
import { causesOf, frameAttributes, type PreparedItem, prepareItem, resultFields } from './window-content.ts';

/**
 * `.aggregate` behind a window and operators such as `.where`: one result per closed window over those of its rows that came
 * through. Rows are held from the window's first to its end, within one step of time, so there is nothing to save.
 */
export class WindowAggregate extends StatelessOperator implements Operator {
  readonly #environment: OperatorEnvironment;
  readonly #aggregation: Aggregation;
  readonly #items: readonly PreparedItem[];
  #rows: Row[] = [];

  constructor(plan: WindowAggregatePlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#environment = environment;
    this.#aggregation = new Aggregation(plan.aggregate, environment);
    this.#items = plan.aggregate.items.map((item) => prepareItem(item, environment));
  }

  process(row: Row): void {
    this.#rows.push(row);
  }

  override endWindow(frame: WindowFrame): void {
    const rows = this.#rows;
    this.#rows = [];
    const [first, last] = [rows[0], rows.at(-1)];
    if (first !== undefined && last !== undefined) this.next.process(this.#result(rows, first, last, frame));
    this.next.endWindow(frame);
  }

  #result(rows: readonly Row[], first: Row, last: Row, frame: WindowFrame): Row {
    const accumulators = this.#aggregation.accumulators();
    for (const row of this.#ordered(rows)) accumulators.add(this.#aggregation.sample(row, row.order));
    const results: readonly Value[] = accumulators.results(frame.lengthMs);
    const keys = this.#environment.partitionFields(last);
    const attributes = frameAttributes(frame);
    const base: Row = {
      type: last.type,
      time: frame.time,
      order: last.order,
      fields: new Map(keys),
      bound: null,
      attributes,
      causes: causesOf(first, last),
    };
    return { ...base, fields: resultFields(this.#items, base, results, keys) };
  }

  #ordered(rows: readonly Row[]): readonly Row[] {
    const isReordered = this.#aggregation.isOrderSensitive && this.#environment.stream.time.outOfOrderMs > 0;
    return isReordered ? [...rows].sort((a, b) => a.time - b.time || a.order - b.order) : rows;
  }
}
