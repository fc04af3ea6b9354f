import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { plus } from '../time/instants.ts';
import type { PatternState, Progress } from './state-space.ts';
import type { Arrival } from './transition.ts';

/** By slot: whether the step may take an event that does not open a run. */
export function laterSlots({ steps }: PatternPlan, { enabledSteps }: PatternState): readonly boolean[] {
  const first = new Set(enabledSteps.map(({ step }) => step.slot));
  return steps.map(({ slot, negated }) => !negated && !first.has(slot));
}

/**
 * Which events come when the runs that they could have been in are over: such as would begin a run that time has passed already,
 * and those of a later step that lie further behind the watermark than the pattern's `within`. With `out_of_order` events
 * come in order of time here, and what is late has been left out before.
 */
export class Lateness {
  readonly #withinMs: number;
  readonly #isLater: readonly boolean[];
  readonly #watermark: () => number;

  constructor(plan: PatternPlan, initial: PatternState, environment: OperatorEnvironment) {
    this.#withinMs = plan.withinMs ?? Infinity;
    this.#isLater = laterSlots(plan, initial);
    const isOrdered = environment.stream.time.outOfOrderMs > 0;
    this.#watermark = isOrdered ? () => -Infinity : () => environment.watermark();
  }

  /** Whether time has passed a run that an event of this time begins. */
  isPassed({ state, base }: Progress, time: number): boolean {
    const watermark = this.#watermark();
    return this.#isBehind(time, watermark) || (state.needsEvent && plus(base, state.dueTime) < watermark);
  }

  isLateForLater({ row, relevance }: Arrival): boolean {
    return relevance.watches.some((id) => this.#isLater[id]) && this.#isBehind(row.time, this.#watermark());
  }

  #isBehind(time: number, watermark: number): boolean {
    return plus(time, this.#withinMs) < watermark;
  }
}
