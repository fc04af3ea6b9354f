import type { WindowAggregatePlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from '../operators/basic-operator.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { type Accumulators, Aggregation } from './aggregation.ts';
import { firstCause, lastCause } from './window-result.ts';

/** What has come through of the window that is closing. */
interface Passed {
  readonly accumulators: Accumulators;
  readonly first: Row;
  last: Row;
  count: number;
}

/**
 * `.aggregate` behind a window and operators such as `.where`: one result per closed window over those of its rows that came
 * through, in the order in which they came. A window hands on its rows and ends within one step of time, so there is
 * nothing to save.
 */
export class WindowAggregate extends BasicOperator implements Operator {
  readonly #aggregation: Aggregation;
  #passed: Passed | null = null;

  constructor(plan: WindowAggregatePlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#aggregation = new Aggregation(plan.aggregate, environment);
  }

  process(row: Row): void {
    const passed = this.#passed ?? { accumulators: this.#aggregation.accumulators(), first: row, last: row, count: 0 };
    const sample = this.#aggregation.sample(row, passed.count);
    passed.accumulators.add(this.#aggregation.taken(sample, row, [passed.accumulators]));
    passed.last = row;
    passed.count++;
    this.#passed = passed;
  }

  override endWindow(frame: WindowFrame): void {
    const passed = this.#passed;
    this.#passed = null;
    if (passed !== null) this.next.process(this.#result(passed, frame));
    this.next.endWindow(frame);
  }

  #result({ accumulators, first, last }: Passed, frame: WindowFrame): Row {
    const origin = { type: last.type, ofKey: last, firstCause: firstCause(first), lastCause: lastCause(last) };
    return this.#aggregation.windowRow(origin, accumulators.results(frame.lengthMs), frame);
  }
}
