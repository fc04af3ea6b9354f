import { toText } from '../../../shared/events/text.ts';
import type { ToPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next } from './operator.ts';
import { type Evaluate, type Row, scopeOf } from './row.ts';
import type { StreamEnvironment } from './stream-environment.ts';

/** `.to(Conn, topic: ..)`: hands the event to a connector; the row goes on. A topic that is null is the connector's own. */
export class ToConnector extends BasicOperator {
  readonly #plan: ToPlan;
  readonly #environment: StreamEnvironment;
  readonly #topic: Evaluate | null;

  constructor(plan: ToPlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#topic = plan.topic && environment.evaluator(plan.topic);
  }

  process(row: Row): void {
    const { connector, parameters } = this.#plan;
    const topic = this.#topic?.(scopeOf(row)) ?? null;
    const { type, time, fields } = row;
    this.#environment.deliver({
      connector,
      url: null,
      topic: topic === null ? null : toText(topic),
      type,
      time,
      fields,
      message: null,
      parameters,
    });
    this.next.process(row);
  }
}
