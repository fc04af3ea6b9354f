import type { Value } from '../../../shared/events/value.ts';
import type { Next, Operator, WindowFrame } from './operator.ts';
import type { Row } from './row.ts';

/** An operator that waits for no time, keeps nothing and passes ends of windows on, as far as a subclass does not say otherwise. */
export abstract class BasicOperator implements Operator {
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
    // Nothing is due.
  }

  save(): Value {
    return null;
  }

  load(_saved: Value): void {
    // Nothing was saved.
  }
}

/**
 * An operator that is not the engine's to act on: `.context(c)` and `.concurrent(..)` say where the work runs; `.trend_aggregate(..)`
 * is carried out by the source of its stream.
 */
export class PassedOn extends BasicOperator {
  process(row: Row): void {
    this.next.process(row);
  }
}
