import type { LastPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, WindowFrame } from './operator.ts';
import type { Row } from './row.ts';

/** `.last()`: the last row of a closing window. A window hands on its rows and ends in one go, so nothing is saved. */
export class Last extends BasicOperator {
  #row: Row | null = null;

  constructor(_plan: LastPlan, next: Next) {
    super(next);
  }

  process(row: Row): void {
    this.#row = row;
  }

  override endWindow(frame: WindowFrame): void {
    const row = this.#row;
    this.#row = null;
    if (row !== null) this.next.process(row);
    super.endWindow(frame);
  }
}
