import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { bindingsOf } from '../patterns/captures.ts';
import { type PartialMatch, wakeTimeOf } from '../patterns/run.ts';
import { relevanceOf } from '../patterns/watch.ts';
import type { SourceOptions } from '../sources/source-options.ts';
import { judge } from './condition.ts';
import { keyIn } from './deciding-values.ts';
import { keyOfRun } from './explain-pattern.ts';
import { anyIsAsNear, type EndedRun, type ExplainRecorder, type Nearness } from './explain-recorder.ts';
import { nearnessTo } from './nearness.ts';
import type { PatternView } from './pattern-view.ts';
import { furthestOf } from './progress.ts';
import { refusalsOf } from './refusals.ts';

/** What a pattern shows while it is watched. */
interface WatchedPattern {
  /** How many rows it has received. */
  received(): number;
  /** How many runs are open. */
  active(): number;
  inspect(): PatternView;
}

type WatchOptions = Pick<SourceOptions, 'environment' | 'recorder' | 'conditions'>;

/** The event at work, and what of the pattern it may concern. */
interface AtWork {
  readonly row: Row;
  readonly watches: readonly number[];
}

const RUNS_COMPARED_MAX = 1_000;

/** Null when nobody looks on. */
export function watchOf(plan: PatternPlan, options: WatchOptions, pattern: WatchedPattern): PatternWatch | null {
  return options.recorder === null && options.environment.tracer === null ? null : new PatternWatch(plan, options, pattern);
}

/**
 * Follows a pattern at work for a tracer and for explanations: why steps refuse events, which events come for which steps, how runs
 * end. It only looks.
 */
export class PatternWatch {
  readonly #plan: PatternPlan;
  readonly #options: WatchOptions;
  readonly #pattern: WatchedPattern;
  /** Null while time moves. */
  #atWork: AtWork | null = null;
  #watermark = -Infinity;
  #matchedByTime: EndedRun | null = null;

  constructor(plan: PatternPlan, options: WatchOptions, pattern: WatchedPattern) {
    this.#plan = plan;
    this.#options = options;
    this.#pattern = pattern;
  }

  /** Around the pattern's work on a row. */
  receive(row: Row, origin: string, work: () => void): void {
    this.#tellRefusals(row, origin);
    const watches = relevanceOf(this.#plan, origin)?.watches ?? [];
    const slots = watches.filter((id) => id < this.#plan.steps.length);
    this.#options.recorder?.came(row, this.#pattern.received() + 1, slots, (slot, key) => this.#nearness(slot, key));
    this.#atWork = { row, watches };
    try {
      work();
    } finally {
      this.#atWork = null;
    }
  }

  /** By the run of a key that has come furthest; among very many runs it is not looked for. */
  #nearness(slot: number, key: string): Nearness {
    const { recorder, conditions } = this.#options;
    if (this.#pattern.active() > RUNS_COMPARED_MAX) return anyIsAsNear;
    const { runs, first } = this.#pattern.inspect();
    const run = furthestOf(runs.filter((one) => keyOfRun(one, recorder as ExplainRecorder) === key));
    return nearnessTo(this.#plan, { slot, run, first }, conditions);
  }

  /** Says why steps refuse the row that wait for one of its kind. */
  #tellRefusals(row: Row, origin: string): void {
    const { environment, conditions } = this.#options;
    const { tracer } = environment;
    const relevance = relevanceOf(this.#plan, origin);
    if (tracer === null || relevance === null) return;
    const refusals = refusalsOf(this.#plan, this.#pattern.inspect(), { row, relevance, key: environment.partition(row) }, conditions);
    for (const { step, why } of refusals) {
      tracer.decided({ stream: environment.stream.name, key: keyIn(environment, row), operator: step, verdict: 'BLOCK', why: [why] });
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
    if (ended !== null) this.#options.recorder?.runEnded({ ...ended, time: match.time });
  }

  /** A run is over, with what it came to. */
  closed(run: PartialMatch, isOverBudget: boolean): void {
    if (this.#options.recorder === null) return;
    const ended = this.#atWork === null ? this.#endByTime(run) : this.#endByEvent(run, this.#atWork, isOverBudget);
    this.#options.recorder.runEnded(ended);
    this.#matchedByTime = ended.end === 'matched' && this.#atWork === null ? ended : null;
  }

  #endByTime(run: PartialMatch): EndedRun {
    const hasMatched = run.progress.state.isComplete || run.accepted !== null;
    const due = Math.max(Math.min(wakeTimeOf(run.progress, run.firstTime, run.lastTime), run.lastTime), run.firstTime);
    const time = Math.min(due, this.#watermark);
    const isDue = due <= this.#watermark;
    return { run, end: hasMatched ? 'matched' : isDue ? 'deadline' : 'expired', by: null, row: null, time };
  }

  #endByEvent(run: PartialMatch, { row, watches }: AtWork, isOverBudget: boolean): EndedRun {
    const ended = (end: EndedRun['end'], by: number | null = null): EndedRun => ({ run, end, by, row, time: row.time });
    if (isOverBudget) return ended('dropped');
    const { state } = run.progress;
    if (state.isComplete && state.enabledSteps.length === 0) return ended('matched');
    const cancel = this.#fitting(
      run,
      row,
      watches.filter((id) => id >= this.#plan.steps.length),
    );
    if (cancel !== null) return ended('cancelled', cancel - this.#plan.steps.length);
    const inForce = new Set(state.absences.map(({ slot }) => slot));
    const forbidden = this.#fitting(
      run,
      row,
      watches.filter((id) => inForce.has(id)),
    );
    if (forbidden !== null) return ended('forbidden', forbidden);
    if (run.accepted !== null) return ended('matched');
    if (this.#plan.selection === 'strict' || this.#plan.monotone !== null) return ended('broken');
    return ended('skipped');
  }

  /** The first of these that the event fits. */
  #fitting(run: PartialMatch, row: Row, ids: readonly number[]): number | null {
    const { steps, cancels } = this.#plan;
    for (const id of ids) {
      const { where } = id < steps.length ? (steps[id] as StepPlan) : (cancels[id - steps.length] as (typeof cancels)[number]);
      if (where === null) return id;
      const bound = bindingsOf(
        run.progress.captures,
        steps.map(() => true),
      );
      if (judge(where, { row, bound, aggregates: [], locals: [] }, this.#options.conditions).failed === null) return id;
    }
    return null;
  }
}
