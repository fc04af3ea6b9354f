import type { Value } from '../../../../shared/events/value.ts';
import { count, number, record } from '../../state/codec.ts';
import { plus } from '../../time/instants.ts';
import type { StepNode } from '../pattern-tree.ts';
import {
  type Absence,
  type Change,
  type EnabledStep,
  earliestFrom,
  NO_ABSENCES,
  NO_MARKS,
  NO_STEPS,
  type Outlook,
  type Residual,
  type RunContext,
  type Taking,
  unchanged,
} from '../residual.ts';

const savedState = record({ count, since: number });

/** A step that has taken `count` events (or, of any number, at least as many); `since` is the time of the last one, or of the step before. */
export class StepResidual implements Residual {
  readonly #node: StepNode;
  readonly #count: number;
  readonly #isEnumerated: boolean;
  readonly endTime: number;

  constructor(node: StepNode, count: number, since: number, isEnumerated: boolean) {
    this.#node = node;
    this.#count = count;
    this.#isEnumerated = isEnumerated;
    this.endTime = since;
  }

  static load(node: StepNode, isEnumerated: boolean, saved: Value): StepResidual {
    const { count: taken, since } = savedState.load(saved);
    return new StepResidual(node, taken, since, isEnumerated);
  }

  get isComplete(): boolean {
    return this.#count >= this.#node.min;
  }

  get isSettled(): boolean {
    return this.#count > 0;
  }

  outlook(context: RunContext): Outlook {
    const { isComplete } = this;
    return {
      enabledSteps: this.#enabledSteps(context),
      dueTime: isComplete ? Infinity : this.#latestTime(context),
      needsEvent: !isComplete,
    };
  }

  #enabledSteps(context: RunContext): readonly EnabledStep[] {
    const { min, max } = this.#node;
    if (this.#count >= max || (context.isClosuresOnly && max === 1)) return NO_STEPS;
    const isRepeat = this.#count > 0 && this.#count >= min;
    return [
      {
        step: this.#node,
        earliestTime: Math.max(context.earliestTime, earliestFrom(this.endTime, this.#node.withinMs)),
        latestTime: this.#latestTime(context),
        isRepeat,
        prolongs: isRepeat ? 'step' : 'nothing',
        skipsLeading: false,
        element: this.#isEnumerated ? 'new' : 'none',
        discards: NO_MARKS,
        take: (taking) => this.#take(taking),
      },
    ];
  }

  #latestTime(context: RunContext): number {
    return Math.min(context.latestTime, plus(this.endTime, this.#node.withinMs));
  }

  /** Where there may be any number, it is not counted how many more than enough there are. */
  #take({ time }: Taking): Residual {
    const { min, max } = this.#node;
    const isEnough = max === Infinity && this.#count >= Math.max(min, 1);
    return new StepResidual(this.#node, isEnough ? this.#count : this.#count + 1, time, this.#isEnumerated);
  }

  absences(): readonly Absence[] {
    return NO_ABSENCES;
  }

  violate(): Change {
    return unchanged(this);
  }

  settle(): Change | null {
    return this.isSettled ? unchanged(this) : null;
  }

  pass(): Change {
    return unchanged(this);
  }

  unfinished(): typeof NO_MARKS {
    return NO_MARKS;
  }

  save(): Value {
    return savedState.save({ count: this.#count, since: this.endTime });
  }
}
