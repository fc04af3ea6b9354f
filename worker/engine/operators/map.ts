import { isMap, kindOf } from '../../../shared/events/value.ts';
import { requireBounded } from '../../../shared/events/value-limits.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { MapPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, OperatorEnvironment } from './operator.ts';
import { type Evaluate, type Row, scopeOf } from './row.ts';
import { withFields } from './stream-environment.ts';

/** `.map(x => {..})`: replaces the fields by those of a map; null gives a row without fields. */
export class MapFields extends BasicOperator {
  readonly #value: Evaluate;

  constructor(plan: MapPlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#value = environment.evaluator(plan.value);
  }

  process(row: Row): void {
    const value = this.#value(scopeOf(row)) ?? new Map();
    if (!isMap(value)) throw new EvaluationError(`needs a map, not ${kindOf(value)}`);
    requireBounded(value);
    this.next.process(withFields(row, value));
  }
}
