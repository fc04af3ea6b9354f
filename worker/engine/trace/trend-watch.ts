import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import type { EnabledStep } from '../patterns/residual.ts';
import { relevanceOf } from '../patterns/watch.ts';
import type { ConditionReader } from './condition.ts';
import type { ExplainRecorder } from './explain-recorder.ts';
import { nearnessTo } from './nearness.ts';

interface Watched {
  readonly recorder: ExplainRecorder;
  readonly conditions: ConditionReader;
}

/** Remembers which events come for the steps of a pattern whose trends are counted. It only looks. */
export class TrendWatch {
  readonly #plan: PatternPlan;
  readonly #first: readonly EnabledStep[];
  readonly #watched: Watched;
  #received = 0;

  constructor(plan: PatternPlan, first: readonly EnabledStep[], watched: Watched) {
    this.#plan = plan;
    this.#first = first;
    this.#watched = watched;
  }

  /** What takes the rows of an origin, with a look at each of them. */
  around(origin: string, take: (row: Row) => void): (row: Row) => void {
    const { recorder, conditions } = this.#watched;
    const slots = relevanceOf(this.#plan, origin)?.watches.filter((id) => id < this.#plan.steps.length) ?? [];
    return (row) => {
      recorder.came(row, ++this.#received, slots, (slot) => nearnessTo(this.#plan, { slot, run: null, first: this.#first }, conditions));
      take(row);
    };
  }
}
