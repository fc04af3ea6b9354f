import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { bindingsOf } from '../patterns/captures.ts';
import type { Run } from '../patterns/run.ts';
import { relevanceOf } from '../patterns/watch.ts';
import { type ConditionReader, judge } from './condition.ts';
import type { EndedRun, ExplainRecorder } from './explain-recorder.ts';

/** Follows a pattern at work: which events come for which steps, and how runs end. It only looks. */
export class PatternRecorder {
  readonly #plan: PatternPlan;
  readonly #recorder: ExplainRecorder;
  readonly #reader: ConditionReader;
  /** The event at work; null while time moves. */
  #row: { readonly row: Row; readonly watchers: readonly number[] } | null = null;
  #watermark = -Infinity;
  #matchedByTime: EndedRun | null = null;

  constructor(plan: PatternPlan, recorder: ExplainRecorder, reader: ConditionReader) {
    this.#plan = plan;
    this.#recorder = recorder;
    this.#reader = reader;
  }

  /** Around the pattern's work on a row; `at` is the row's position there. */
  receive(row: Row, origin: string, at: number, work: () => void): void {
    const watchers = relevanceOf(this.#plan, origin)?.watches ?? [];
    this.#row = { row, watchers };
    this.#recorder.came(
      row,
      at,
      watchers.filter((id) => id < this.#plan.steps.length),
    );
    try {
      work();
    } finally {
      this.#row = null;
    }
  }

  advance(watermark: number, work: () => void): void {
    this.#watermark = watermark;
    try {
      work();
    } finally {
      this.#matchedByTime = null;
    }
  }

  /** A match has come out: where time completed it, its time is known now. */
  matched(match: Row): void {
    const ended = this.#matchedByTime;
    this.#matchedByTime = null;
    if (ended !== null) this.#recorder.runEnded({ ...ended, time: match.time });
  }

  /** A run is closed. */
  closed(run: Run): void {
    const ended = this.#row === null ? this.#endByTime(run) : this.#endByEvent(run, this.#row);
    this.#recorder.runEnded(ended);
    this.#matchedByTime = ended.end === 'matched' && this.#row === null ? ended : null;
  }

  #endByTime(run: Run): EndedRun {
    const hasMatched = run.progress.state.isComplete || run.accepted !== null;
    const time = Math.min(run.wakeTime, run.lastTime, this.#watermark);
    const isDue = run.wakeTime <= this.#watermark || run.lastTime <= this.#watermark;
    return { run, end: hasMatched ? 'matched' : isDue ? 'deadline' : 'expired', by: null, row: null, time };
  }

  #endByEvent(run: Run, { row, watchers }: { readonly row: Row; readonly watchers: readonly number[] }): EndedRun {
    const ended = (end: EndedRun['end'], by: number | null = null): EndedRun => ({ run, end, by, row, time: row.time });
    const { state } = run.progress;
    if (state.isComplete && state.enabledSteps.length === 0) return ended('matched');
    const cancel = this.#fitting(
      run,
      row,
      watchers.filter((id) => id >= this.#plan.steps.length),
    );
    if (cancel !== null) return ended('cancelled', cancel - this.#plan.steps.length);
    const inForce = new Set(state.absences.map(({ slot }) => slot));
    const forbidden = this.#fitting(
      run,
      row,
      watchers.filter((id) => inForce.has(id)),
    );
    if (forbidden !== null) return ended('forbidden', forbidden);
    if (run.accepted !== null) return ended('matched');
    if (this.#plan.selection === 'strict' || this.#plan.monotone !== null) return ended('broken');
    return ended(this.#plan.afterMatch === 'no_skip' ? 'dropped' : 'skipped');
  }

  /** The first of these that the event fits. */
  #fitting(run: Run, row: Row, ids: readonly number[]): number | null {
    const { steps, cancels } = this.#plan;
    for (const id of ids) {
      const { where } = id < steps.length ? (steps[id] as StepPlan) : (cancels[id - steps.length] as (typeof cancels)[number]);
      if (where === null) return id;
      const bound = bindingsOf(
        run.progress.captures,
        steps.map(() => true),
      );
      if (judge(where, { row, bound, aggregates: [], locals: [] }, this.#reader).failed === null) return id;
    }
    return null;
  }
}
