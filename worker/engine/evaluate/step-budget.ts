import { beginMaking } from '../../../shared/events/making.ts';
import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import { limits } from '../../../shared/limits.ts';

/** What keeps a program's functions from running for ever: depth of calls, and steps shared by all that one event causes. */
export class StepBudget {
  #depth = 0;
  #eventSteps = 0;

  beginEvent(): void {
    this.#depth = 0;
    this.#eventSteps = 0;
    beginMaking();
  }

  /** A program function is entered; `leave` follows whatever happens. */
  enter(name: string): void {
    if (this.#depth >= limits.functionRecursionDepthMax) {
      throw new EvaluationError(`${name}: calls are nested more than ${limits.functionRecursionDepthMax} deep`);
    }
    this.step();
    this.#depth++;
  }

  leave(): void {
    this.#depth--;
  }

  /** One step of those that everything caused by one event shares. */
  step(): void {
    if (++this.#eventSteps > limits.functionLoopStepsPerEventMax) {
      throw new EvaluationError(`one event may cause at most ${limits.functionLoopStepsPerEventMax} steps`);
    }
  }
}

/** One run of a function's body or of a lambda's block: its loop steps, and what it returned. */
export class Activation {
  readonly #budget: StepBudget;
  #loopSteps = 0;
  #returned: Value = null;

  constructor(budget: StepBudget) {
    this.#budget = budget;
  }

  /** One pass of a loop. */
  loopStep(): void {
    if (++this.#loopSteps > limits.functionLoopStepsPerCallMax) {
      throw new EvaluationError(`the loops of one call may take at most ${limits.functionLoopStepsPerCallMax} steps`);
    }
    this.#budget.step();
  }

  return(value: Value): void {
    this.#returned = value;
  }

  get returned(): Value {
    return this.#returned;
  }
}
