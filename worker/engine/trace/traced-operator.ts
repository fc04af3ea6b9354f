import type { Value } from '../../../shared/events/value.ts';
import type { OperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Tracer } from '../engine.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { decidingValues } from './deciding-values.ts';

export interface TracedOptions {
  readonly plan: OperatorPlan;
  readonly next: Next;
  readonly environment: OperatorEnvironment;
  readonly tracer: Tracer;
  /** The operator may hold a row back; that is a BLOCK. */
  readonly holdsBack: boolean;
  readonly create: (next: Next) => Operator;
}

/** An operator that says of each row whether it let it pass, before what follows speaks of it. */
export class TracedOperator implements Operator {
  readonly #options: TracedOptions;
  readonly #operator: Operator;
  readonly #values: (row: Row) => readonly string[];
  /** The row at work, until its verdict is known. */
  #undecided: Row | null = null;

  constructor(options: TracedOptions) {
    const { plan, next, environment, create } = options;
    this.#options = options;
    this.#values = decidingValues(plan, environment);
    this.#operator = create({
      process: (row) => {
        this.#decide('PASS');
        next.process(row);
      },
      endWindow: (frame) => next.endWindow(frame),
    });
  }

  process(row: Row): void {
    this.#undecided = row;
    this.#operator.process(row);
    this.#decide(this.#options.holdsBack ? 'BLOCK' : 'PASS');
  }

  #decide(verdict: 'PASS' | 'BLOCK'): void {
    const row = this.#undecided;
    if (row === null) return;
    this.#undecided = null;
    const { tracer, environment, plan } = this.#options;
    tracer.operator(environment.stream.name, plan.text, verdict, this.#values(row));
  }

  endWindow(frame: WindowFrame): void {
    this.#undecided = null;
    this.#operator.endWindow(frame);
  }

  deadline(): number {
    return this.#operator.deadline();
  }

  advance(watermark: number): void {
    this.#undecided = null;
    this.#operator.advance(watermark);
  }

  save(): Value {
    return this.#operator.save();
  }

  load(saved: Value): void {
    this.#operator.load(saved);
  }
}
