import { fieldsToJson, toText } from '../../../shared/events/text.ts';
import { isMap, type Value } from '../../../shared/events/value.ts';
import type { TapPlan } from '../../../shared/language/plan/plan.ts';
import type { LogEntry } from '../engine.ts';
import type { Tapped } from '../streams/label-sets.ts';
import { BasicOperator } from './basic-operator.ts';
import { FieldExpressions } from './field-expressions.ts';
import type { Next } from './operator.ts';
import { type Evaluate, type Row, type Scope, scopeOf } from './row.ts';
import type { StreamEnvironment } from './stream-environment.ts';

const LEVELS: ReadonlyMap<string, LogEntry['level']> = new Map(
  (['debug', 'info', 'warn', 'error'] as const).map((level) => [level, level] as const),
);

/** `.tap`, `.print`, `.log`: a side effect; the row goes on as it was. */
export class Tap extends BasicOperator {
  readonly #plan: TapPlan;
  readonly #environment: StreamEnvironment;
  readonly #values: readonly Evaluate[];
  readonly #level: Evaluate | null;
  readonly #message: Evaluate | null;
  readonly #data: Evaluate | null;
  readonly #labels: FieldExpressions;

  constructor(plan: TapPlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#values = plan.values.map((value) => environment.evaluator(value));
    this.#level = plan.level && environment.evaluator(plan.level);
    this.#message = plan.message && environment.evaluator(plan.message);
    this.#data = plan.data && environment.evaluator(plan.data);
    this.#labels = new FieldExpressions(plan.labels, environment);
  }

  process(row: Row): void {
    const scope = scopeOf(row);
    if (this.#plan.counter !== null) this.#environment.tapped({ counter: this.#plan.counter, labels: this.#labelsOf(row) });
    else this.#environment.log(this.#plan.tap === 'log' ? this.#logged(scope) : this.#printed(this.#plan.tap, scope));
    this.next.process(row);
  }

  #printed(kind: 'print' | 'tap', scope: Scope): Omit<LogEntry, 'stream'> {
    const values = this.#values.map((value) => value(scope));
    const message = values.length === 0 ? eventText(scope.row) : values.map(toText).join(' ');
    return {
      level: 'info',
      kind,
      message,
      data: values.length === 0 ? scope.row.fields : values.length === 1 ? (values[0] ?? null) : values,
    };
  }

  #logged(scope: Scope): Omit<LogEntry, 'stream'> {
    const level = LEVELS.get(toText(this.#level?.(scope) ?? 'info')) ?? 'info';
    const message = this.#message === null ? eventText(scope.row) : toText(this.#message(scope));
    return { level, kind: 'log', message, data: this.#data === null ? scope.row.fields : this.#data(scope) };
  }

  #labelsOf(row: Row): Tapped['labels'] {
    return [...this.#labels.of(row)].map(([label, value]) => [label, labelText(value)] as const);
  }
}

/** An event as `.print()` shows it. */
function eventText(row: Row): string {
  return `${row.type} ${fieldsToJson(row.fields)}`;
}

function labelText(value: Value): string {
  return isMap(value) ? fieldsToJson(value) : toText(value);
}
