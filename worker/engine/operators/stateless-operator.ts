import type { Value } from '../../../shared/events/value.ts';
import type { Next, Operator, WindowFrame } from './operator.ts';
import type { Row } from './row.ts';

/** An operator that keeps nothing and waits for nothing: only what it does with a row is left to say. */
export abstract class StatelessOperator implements Operator {
  protected readonly next: Next;

  constructor(next: Next) {
    this.next = next;
  }

  abstract process(row: Row): void;

  endWindow(frame: WindowFrame): void {
    this.next.endWindow(frame);
  }

  deadline(): number {
    return Infinity;
  }

  advance(_watermark: number): void {
    // Nothing is due: nothing waits.
  }

  save(): Value {
    return null;
  }

  load(_saved: Value): void {
    // Nothing was saved.
  }
}
