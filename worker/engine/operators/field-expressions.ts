import type { Value } from '../../../shared/events/value.ts';
import { requireBounded } from '../../../shared/events/value-limits.ts';
import type { NamedExpression } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from './operator.ts';
import { type Evaluate, type Row, reusableScope } from './row.ts';

/** The `n: e, ..` of `.select` and `.emit`, ready to run. */
export class FieldExpressions {
  readonly #items: readonly { readonly name: string; readonly value: Evaluate }[];
  readonly #scopeOf = reusableScope();

  constructor(items: readonly NamedExpression[], environment: OperatorEnvironment) {
    this.#items = items.map(({ name, value }) => ({ name, value: environment.evaluator(value) }));
  }

  /** @throws EvaluationError when an item fails, or is too large to be kept. */
  of(row: Row): Map<string, Value> {
    const scope = this.#scopeOf(row);
    const fields = new Map<string, Value>();
    for (const { name, value } of this.#items) {
      const result = value(scope);
      requireBounded(result);
      fields.set(name, result);
    }
    return fields;
  }
}
