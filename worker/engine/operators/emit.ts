import type { EmitPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import { FieldExpressions } from './field-expressions.ts';
import type { Next } from './operator.ts';
import { OutputShape } from './output-shape.ts';
import type { Row } from './row.ts';
import { type StreamEnvironment, withFields } from './stream-environment.ts';

/** `.emit(n: e, ..)`, `.emit as T (..)`, `.emit()`: makes an output event, and hands on a row of the same fields and type. */
export class Emit extends BasicOperator {
  readonly #plan: EmitPlan;
  readonly #environment: StreamEnvironment;
  readonly #fields: FieldExpressions | null;
  readonly #shape: OutputShape;

  constructor(plan: EmitPlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#fields = plan.items && new FieldExpressions(plan.items, environment);
    this.#shape = new OutputShape(environment.outputType(plan.type));
  }

  process(row: Row): void {
    const { type } = this.#plan;
    const fields = this.#shape.fit(this.#fields === null ? row.fields : this.#fields.of(row));
    this.#environment.output({ stream: this.#environment.stream.name, type, time: row.time, fields }, row);
    this.next.process(withFields(row, fields, type));
  }
}
