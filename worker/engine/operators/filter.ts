import type { FilterPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, OperatorEnvironment } from './operator.ts';
import { type Evaluate, type Row, reusableScope } from './row.ts';

/** `.where`, `.filter`, `.having`: passes a row only when the condition is true. */
export class Filter extends BasicOperator {
  readonly #condition: Evaluate;
  readonly #scopeOf = reusableScope();

  constructor(plan: FilterPlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#condition = environment.evaluator(plan.condition);
  }

  process(row: Row): void {
    if (this.#condition(this.#scopeOf(row)) === true) this.next.process(row);
  }
}
