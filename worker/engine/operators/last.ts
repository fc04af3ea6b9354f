import type { Value } from '../../../shared/events/value.ts';
import type { LastPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, WindowFrame } from './operator.ts';
import type { Row } from './row.ts';

/** `.last()`: the last row of a closing window. */
export class Last implements Operator {
  readonly #next: Next;
  #row: Row | null = null;

  constructor(_plan: LastPlan, next: Next) {
    this.#next = next;
  }

  process(row: Row): void {
    this.#row = row;
  }

  endWindow(frame: WindowFrame): void {
    const row = this.#row;
    this.#row = null;
    if (row !== null) this.#next.process(row);
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Infinity;
  }

  advance(): void {
    // Windows end by themselves.
  }

  /** Nothing: a window hands on its rows and ends in one go. */
  save(): Value {
    return null;
  }

  load(): void {
    // Nothing was saved.
  }
}
