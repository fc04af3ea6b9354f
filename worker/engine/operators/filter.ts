import type { FilterPlan } from '../../../shared/language/plan/plan.ts';
import { prepareCondition } from '../evaluate/condition.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, OperatorEnvironment } from './operator.ts';
import { type Row, reusableScope, type Scope } from './row.ts';

/** `.where`, `.filter`, `.having`: passes a row only when the condition is true. */
export class Filter extends BasicOperator {
  readonly #holds: (scope: Scope) => boolean;
  readonly #scopeOf = reusableScope();

  constructor(plan: FilterPlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#holds = prepareCondition(plan.condition, environment);
  }

  process(row: Row): void {
    if (this.#holds(this.#scopeOf(row))) this.next.process(row);
  }
}
