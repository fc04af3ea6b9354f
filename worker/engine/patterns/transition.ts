import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import type { Binding, Row } from '../operators/row.ts';
import { plus } from '../time/instants.ts';
import { bindingsOf, type Captures, rollBack } from './captures.ts';
import { slotsReadAsLists } from './expression-reads.ts';
import { type KeepsMonotony, monotonyOf } from './monotony.ts';
import { type Absence, type EnabledStep, isInGap } from './residual.ts';
import type { Run } from './run.ts';
import type { PatternState, Progress, StateSpace } from './state-space.ts';
import type { Relevance, Watch } from './watch.ts';

/** An event on its way through a pattern. */
export interface Arrival {
  readonly row: Row;
  /** Its position among all that the pattern received. */
  readonly at: number;
  readonly relevance: Relevance;
}

/** A step that takes the event, and what the run has come to with it. */
export interface Take {
  readonly slot: number;
  readonly progress: Progress;
}

/**
 * What an event does to a run. `move`: the steps take it (one, or under `.stam()` any number), and what remains where it is
 * not taken changes to `kept`, if that is given. `end`: the run ends with what it has. `drop`: it ends without a match.
 */
export type Decision =
  | { readonly kind: 'move'; readonly run: Run; readonly takes: readonly Take[]; readonly kept: Progress | null }
  | { readonly kind: 'end'; readonly run: Run }
  | { readonly kind: 'drop'; readonly run: Run };

/** Where an event finds a run. */
interface Standing {
  readonly state: PatternState;
  readonly captures: Captures;
  readonly base: number;
  readonly bound: readonly Binding[];
}

const NO_TAKES: readonly Take[] = [];

/** Decides what events do to runs. Changes nothing, so a failing condition (`EvaluationError`) leaves no trace. */
export class Transition {
  readonly #plan: PatternPlan;
  readonly #space: StateSpace;
  readonly #watches: readonly Watch[];
  readonly #keepsMonotony: KeepsMonotony;
  /** By slot: whether a condition reads more of it than the last event. */
  readonly #readsList: readonly boolean[];
  /** A run before its first event. */
  readonly #nothing: Standing;

  constructor(plan: PatternPlan, space: StateSpace, watches: readonly Watch[], environment: OperatorEnvironment) {
    this.#plan = plan;
    this.#space = space;
    this.#watches = watches;
    this.#keepsMonotony = monotonyOf(plan, environment);
    const listsRead = slotsReadAsLists([...plan.steps, ...plan.cancels].map(({ where }) => where));
    this.#readsList = plan.steps.map((_, slot) => listsRead.has(slot));
    const captures = plan.steps.map(() => null);
    this.#nothing = { state: space.initial, captures, base: 0, bound: bindingsOf(captures, this.#readsList) };
  }

  /** Null when the event leaves the run as it is. */
  decide(run: Run, arrival: Arrival): Decision | null {
    if (this.#isTooEarly(run, arrival)) return null;
    if (this.#isCancelled(run, arrival)) return { kind: 'drop', run };
    const kept = this.#afterViolations(run, arrival);
    if (kept === null) return { kind: 'drop', run };
    const standing = this.#standing(run, kept, arrival);
    const takes = arrival.row.time <= run.lastTime ? this.#takes(standing, arrival) : NO_TAKES;
    const isBarred = kept !== run.progress && !kept.state.isComplete;
    if (takes === null) return { kind: isBarred ? 'drop' : 'end', run };
    if (takes.length > 0) return { kind: 'move', run, takes, kept: kept === run.progress ? null : kept };
    if (this.#breaksContiguity(standing, arrival)) return { kind: isBarred ? 'drop' : 'end', run };
    if (kept === run.progress) return null;
    return isThrough(kept.state) ? { kind: 'end', run } : { kind: 'move', run, takes, kept };
  }

  /** The event lies further back than the pattern's `within` allows: for this run it has not been. */
  #isTooEarly({ firstTime }: Run, { row: { time } }: Arrival): boolean {
    const { withinMs } = this.#plan;
    return time < firstTime && withinMs !== null && time < plus(firstTime, -withinMs);
  }

  #isCancelled(run: Run, { row, relevance }: Arrival): boolean {
    if (relevance.cancels.length === 0) return false;
    return relevance.cancels.some((id) => (this.#watches[id] as Watch).accepts(row, run.bound(this.#readsList)));
  }

  /** The run's progress, less what the `NOT`s forbid that the event violates; null when that ends the run. */
  #afterViolations(run: Run, { row, relevance }: Arrival): Progress | null {
    const { progress } = run;
    if (progress.state.absences.length === 0) return progress;
    const violated = progress.state.absences
      .filter((absence) => relevance.isWatched[absence.slot] && isInForce(absence, run, row.time))
      .filter(({ slot }) => (this.#watches[slot] as Watch).accepts(row, run.bound(this.#readsList)))
      .map(({ slot }) => slot);
    return violated.length === 0 ? progress : this.#space.violate(progress, violated);
  }

  /** How the event finds the run: `NOT`s whose deadline it has passed have matched, even if the watermark lags behind. */
  #standing(run: Run, kept: Progress, { row }: Arrival): Standing {
    const isOutlived = run.progress.state.absences.some((absence) => deadlineOf(absence, run) < row.time);
    const found = isOutlived ? this.#space.pass(kept, { time: row.time, isPatternOver: run.lastTime < row.time }) : kept;
    const bound = found === run.progress ? run.bound(this.#readsList) : bindingsOf(found.captures, this.#readsList);
    return { state: found.state, captures: found.captures, base: found.base, bound };
  }

  /** The steps that take the event: the first that fits, or under `.stam()` all. Null when it breaks the run's monotony. */
  #takes(standing: Standing, arrival: Arrival): readonly Take[] | null {
    let takes = NO_TAKES;
    for (const enabled of standing.state.enabledSteps) {
      if (!this.#fits(enabled, standing, arrival)) continue;
      const take = this.#take(enabled, standing, arrival);
      if (take === null) return null;
      takes = takes.length === 0 ? [take] : [...takes, take];
      if (this.#plan.selection !== 'any') break;
    }
    return takes;
  }

  #fits(enabled: EnabledStep, { captures, base, bound }: Standing, { row, relevance }: Arrival): boolean {
    const { slot } = enabled.step;
    if (!relevance.isWatched[slot] || !isInGap(row.time, enabled, base)) return false;
    const readable = enabled.discards.length === 0 ? bound : bindingsOf(rollBack(captures, enabled.discards), this.#readsList);
    return (this.#watches[slot] as Watch).accepts(row, readable);
  }

  /** Null when the event breaks the monotony of the closure that would take it. */
  #take(enabled: EnabledStep, { state, captures }: Standing, { row, at }: Arrival): Take | null {
    const left = rollBack(captures, enabled.discards);
    if (!this.#keepsMonotony(enabled.step.slot, row, left)) return null;
    return { slot: enabled.step.slot, progress: this.#space.take({ state, captures: left }, enabled, row, at) };
  }

  /** Under `.strict()` the next event of the sources must be the next step, as long as a step is waited for. */
  #breaksContiguity({ state }: Standing, { relevance }: Arrival): boolean {
    return this.#plan.selection === 'strict' && relevance.isStepSource && state.enabledSteps.length > 0;
  }

  /** The runs that the event opens: one, or under `.stam()` one for each first step that it fits. */
  open(isTaken: boolean, arrival: Arrival): readonly Take[] {
    let takes = NO_TAKES;
    for (const enabled of this.#nothing.state.enabledSteps) {
      if (enabled.skipsLeading && isTaken && this.#plan.selection !== 'any') continue;
      if (!this.#fits(enabled, this.#nothing, arrival)) continue;
      const take = this.#take(enabled, this.#nothing, arrival);
      if (take === null) continue;
      takes = takes.length === 0 ? [take] : [...takes, take];
      if (this.#plan.selection !== 'any') break;
    }
    return takes;
  }

  /** What conditions and taps read of captures. */
  readable(captures: Captures): readonly Binding[] {
    return bindingsOf(captures, this.#readsList);
  }
}

/** Complete, with nothing left that an event or time could add. */
function isThrough({ isComplete, enabledSteps, absences }: PatternState): boolean {
  return isComplete && enabledSteps.length === 0 && absences.length === 0;
}

function isInForce(absence: Absence, run: Run, time: number): boolean {
  return time <= deadlineOf(absence, run) && time >= plus(run.progress.base, absence.earliestTime);
}

/** The last `NOT` of a pattern without a `within` has the pattern's deadline. */
function deadlineOf({ node, deadline }: Absence, run: Run): number {
  return node.until === 'pattern' ? run.lastTime : plus(run.progress.base, deadline);
}
