import type { Fields } from '../../../shared/events/event.ts';
import { requireBounded } from '../../../shared/events/value-limits.ts';
import type { ProcessPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next } from './operator.ts';
import { OutputShape } from './output-shape.ts';
import { type Evaluate, type Row, scopeOf } from './row.ts';
import { type StreamEnvironment, withFields } from './stream-environment.ts';

/** `.process(f(..))`: each `emit` of the function is an output event and goes on as a row. A call that fails emits nothing. */
export class ProcessFunction extends BasicOperator {
  readonly #plan: ProcessPlan;
  readonly #environment: StreamEnvironment;
  readonly #arguments: readonly Evaluate[];
  readonly #shapes = new Map<string, OutputShape>();

  constructor(plan: ProcessPlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#arguments = plan.arguments.map((argument) => environment.evaluator(argument));
  }

  process(row: Row): void {
    const scope = scopeOf(row);
    const args = this.#arguments.map((argument) => argument(scope));
    const emitted: Row[] = [];
    this.#environment.invoke(this.#plan, args, row, (type, fields) => emitted.push(withFields(row, this.#fit(type, fields), type)));
    for (const result of emitted) this.#handOn(result);
  }

  #handOn(result: Row): void {
    const { type, time, fields } = result;
    this.#environment.output({ stream: this.#environment.stream.name, type, time, fields }, result);
    this.next.process(result);
  }

  #fit(type: string, fields: Fields): Fields {
    for (const value of fields.values()) requireBounded(value);
    let shape = this.#shapes.get(type);
    if (shape === undefined) {
      shape = new OutputShape(this.#environment.outputType(type));
      this.#shapes.set(type, shape);
    }
    return shape.fit(fields);
  }
}
