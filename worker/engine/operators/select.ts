import type { SelectPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import { FieldExpressions } from './field-expressions.ts';
import type { Next, OperatorEnvironment } from './operator.ts';
import type { Row } from './row.ts';
import { withFields } from './stream-environment.ts';

/** `.select(f, n: e)`: replaces the fields. */
export class Select extends BasicOperator {
  readonly #fields: FieldExpressions;

  constructor(plan: SelectPlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#fields = new FieldExpressions(plan.items, environment);
  }

  process(row: Row): void {
    this.next.process(withFields(row, this.#fields.of(row)));
  }
}
