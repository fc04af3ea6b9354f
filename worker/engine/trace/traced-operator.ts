import type { Value } from '../../../shared/events/value.ts';
import type { Next, Operator, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import type { WindowView } from './views.ts';

export interface TracedOptions {
  readonly next: Next;
  /** Hears of each row what became of it, before what follows does. `isHandedOn`: the row, or what it became, went on. */
  readonly decided: (verdict: 'PASS' | 'BLOCK', row: Row, isHandedOn: boolean) => void;
  /** The operator may hold a row back; that is a BLOCK. */
  readonly holdsBack: boolean;
  readonly create: (next: Next) => Operator;
}

/** An operator that says of each row whether it let it pass, before what follows speaks of it. */
export class TracedOperator implements Operator {
  readonly holds: readonly WatermarkHold[];
  readonly #options: TracedOptions;
  readonly #operator: Operator;
  /** The row at work, until its verdict is known. */
  #undecided: Row | null = null;

  constructor(options: TracedOptions) {
    const { next, create } = options;
    this.#options = options;
    this.#operator = create({
      process: (row) => {
        this.handsOn();
        next.process(row);
      },
      endWindow: (frame) => next.endWindow(frame),
    });
    this.holds = this.#operator.holds ?? [];
  }

  /** The operator is about to hand the row on, or what it made of it. */
  handsOn(): void {
    this.#decide('PASS', true);
  }

  /** What becomes of the row at work has been told: of this one, where it is named. */
  isTold(row: Row | null = this.#undecided): void {
    if (row === this.#undecided) this.#undecided = null;
  }

  process(row: Row): void {
    this.#undecided = row;
    this.#operator.process(row);
    this.#decide(this.#options.holdsBack ? 'BLOCK' : 'PASS', false);
  }

  #decide(verdict: 'PASS' | 'BLOCK', isHandedOn: boolean): void {
    const row = this.#undecided;
    if (row === null) return;
    this.#undecided = null;
    this.#options.decided(verdict, row, isHandedOn);
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

  openWindows(): readonly WindowView[] {
    return this.#operator.openWindows?.() ?? [];
  }

  save(): Value {
    return this.#operator.save();
  }

  load(saved: Value): void {
    this.#operator.load(saved);
  }
}
