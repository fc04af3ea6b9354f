import { keyOf } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { PartitionPlan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import { type Evaluate, type Row, reusableScope } from '../operators/row.ts';

/** The key of everything stateful in a stream, or of one operator that has its own. */
export class PartitionKey {
  readonly #parts: readonly { readonly name: string; readonly value: Evaluate }[];
  readonly #scopeOf = reusableScope();

  constructor(plan: PartitionPlan, evaluator: (expression: PlanExpression) => Evaluate) {
    this.#parts = plan.keys.map(({ name, value }) => ({ name, value: evaluator(value) }));
  }

  /** Canonical text of a row's key; '' without a partition. */
  text(row: Row): string {
    if (this.#parts.length === 0) return '';
    const scope = this.#scopeOf(row);
    return keyOf(this.#parts.map(({ value }) => value(scope)));
  }

  /** The key's values under their names, in written order. */
  fields(row: Row): readonly (readonly [string, Value])[] {
    if (this.#parts.length === 0) return [];
    const scope = this.#scopeOf(row);
    return this.#parts.map(({ name, value }) => [name, value(scope)] as const);
  }
}
