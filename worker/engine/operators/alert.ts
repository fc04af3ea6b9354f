import { toText } from '../../../shared/events/text.ts';
import type { AlertPlan } from '../../../shared/language/plan/plan.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next } from './operator.ts';
import { type Evaluate, type Row, scopeOf } from './row.ts';
import type { StreamEnvironment } from './stream-environment.ts';

/** `.alert(url: .., message: ..)`: hands the event to a webhook, or to the log when it names none; the row goes on. */
export class Alert extends BasicOperator {
  readonly #plan: AlertPlan;
  readonly #environment: StreamEnvironment;
  readonly #message: Evaluate | null;

  constructor(plan: AlertPlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#message = plan.message && environment.evaluator(plan.message);
  }

  process(row: Row): void {
    const { url } = this.#plan;
    const message = this.#message === null ? null : toText(this.#message(scopeOf(row)));
    const { type, time, fields } = row;
    if (url === null) this.#environment.log({ level: 'warn', kind: 'log', message: message ?? type, data: fields });
    else this.#environment.deliver({ connector: null, url, topic: null, type, time, fields, message, parameters: new Map() });
    this.next.process(row);
  }
}
