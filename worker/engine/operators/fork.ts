import type { Value } from '../../../shared/events/value.ts';
import type { ForkPlan } from '../../../shared/language/plan/plan.ts';
import { list, stateOf } from '../state/codec.ts';
import { type Chain, savedChain } from '../streams/chain.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import type { Next, Operator, WindowFrame } from './operator.ts';
import type { Row } from './row.ts';
import type { StreamEnvironment } from './stream-environment.ts';

const savedState = stateOf({
  name: 'fork',
  version: 1,
  members: { branches: list(savedChain) },
  unnamed: (branches) => [branches],
});

/** `.fork(name: .op().op(), ..)`: every row goes through each branch, in written order. */
export class Fork implements Operator {
  readonly holds: readonly WatermarkHold[];
  readonly #branches: readonly Chain[];
  readonly #next: Next;
  /** The end of a window is on its way through the branches. */
  #isEnding = false;

  constructor(plan: ForkPlan, next: Next, environment: StreamEnvironment) {
    this.#next = next;
    const end: Next = {
      process: (row) => next.process(row),
      endWindow: (frame) => {
        if (!this.#isEnding) next.endWindow(frame);
      },
    };
    this.#branches = plan.branches.map(({ name, operators }) => environment.branch(plan, name, operators, end));
    this.holds = this.#branches.flatMap((branch) => branch.holds);
  }

  process(row: Row): void {
    for (const branch of this.#branches) branch.process(row);
  }

  /**
   * What the branches make of a window is one window for what follows. A branch that waits for answers ends it by itself when it has
   * them, also when they are there at once.
   */
  endWindow(frame: WindowFrame): void {
    for (const branch of this.#branches) {
      this.#isEnding = branch.holds.length === 0;
      branch.endWindow(frame);
      this.#isEnding = false;
    }
    if (this.#branches.some(({ holds }) => holds.length === 0)) this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(...this.#branches.map((branch) => branch.deadline()));
  }

  advance(watermark: number): void {
    for (const branch of this.#branches) branch.advance(watermark);
  }

  save(): Value {
    return savedState.save({ branches: this.#branches.map((branch) => branch.save()) });
  }

  load(saved: Value): void {
    const { branches } = savedState.load(saved);
    for (const [position, branch] of this.#branches.entries()) branch.load(branches[position] ?? []);
  }
}
