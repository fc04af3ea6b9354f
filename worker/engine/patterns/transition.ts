import { greater, less } from '../../../shared/language/functions/arithmetic.ts';
import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Binding, type Evaluate, type Row, scopeOf } from '../operators/row.ts';
import { bindingsOf, Capture, type Captures, rollBack, withCapture } from './captures.ts';
import { noteListReads } from './expression-reads.ts';
import type { Offer, Residual, RunContext, Taking } from './residual.ts';
import type { Progress, Run } from './run.ts';
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
  | { readonly kind: 'end' | 'drop'; readonly run: Run };

/** Where a run stands when the event meets it. */
interface Standing extends Progress {
  readonly offers: readonly Offer[];
  readonly bound: readonly Binding[];
}

/** Decides what events do to runs. Changes nothing, so a failing condition (`EvaluationError`) leaves no trace. */
export class Transition {
  readonly #plan: PatternPlan;
  readonly #watches: readonly Watch[];
  readonly #monotoneValue: Evaluate | null;
  /** By slot: whether a condition reads more of it than the last event. */
  readonly #readsList: readonly boolean[];
  readonly #nothing: readonly Binding[];

  constructor(plan: PatternPlan, watches: readonly Watch[], environment: OperatorEnvironment) {
    this.#plan = plan;
    this.#watches = watches;
    this.#monotoneValue = plan.monotone && environment.evaluator(plan.monotone.value);
    this.#readsList = listReadsOf(plan);
    this.#nothing = plan.steps.map(() => null);
  }

  /** Null when the event leaves the run as it is. */
  decide(run: Run, arrival: Arrival): Decision | null {
    if (this.#isCancelled(run, arrival)) return { kind: 'drop', run };
    const kept = this.#afterViolations(run, arrival);
    if (kept === null) return { kind: 'drop', run };
    const standing = this.#standing(run, kept, arrival);
    const takes = this.#takes(standing, arrival);
    if (takes === null) return { kind: 'end', run };
    if (takes.length === 0 && this.#breaksContiguity(standing, arrival)) return { kind: 'end', run };
    const isChanged = kept !== run.progress;
    return takes.length > 0 || isChanged ? { kind: 'move', run, takes, kept: isChanged ? kept : null } : null;
  }

  #isCancelled(run: Run, { row, relevance }: Arrival): boolean {
    return relevance.cancels.some((id) => (this.#watches[id] as Watch).accepts(row, run.bound(this.#readsList)));
  }

  /** The run's progress, less what the `NOT`s forbid that the event violates; null when that ends the run. */
  #afterViolations(run: Run, { row, relevance }: Arrival): Progress | null {
    const { residual, captures } = run.progress;
    const violated = run.absences
      .filter(({ node, deadline }) => relevance.isWatched[node.slot] && row.time <= deadline)
      .filter(({ node }) => (this.#watches[node.slot] as Watch).accepts(row, run.bound(this.#readsList)))
      .map(({ node }) => node.slot);
    if (violated.length === 0) return run.progress;
    const change = residual.violate((slot) => violated.includes(slot), run.context);
    return change && { residual: change.residual, captures: rollBack(captures, change.losses) };
  }

  /** How the event finds the run: `NOT`s whose deadline it has passed have matched, even if the watermark lags behind. */
  #standing(run: Run, kept: Progress, { row }: Arrival): Standing {
    const isOutlived = run.absences.some((absence) => absence.deadline < row.time);
    if (!isOutlived && kept === run.progress) return { ...kept, offers: run.offers, bound: run.bound(this.#readsList) };
    const { residual, losses } = kept.residual.pass(row.time, run.context);
    const captures = rollBack(kept.captures, losses);
    return { residual, captures, offers: residual.offers(run.context), bound: bindingsOf(captures, this.#readsList) };
  }

  /** The steps that take the event: the first that fits, or under `.stam()` all. Null when it breaks the run's monotony. */
  #takes(standing: Standing, arrival: Arrival): readonly Take[] | null {
    const takes: Take[] = [];
    for (const offer of standing.offers) {
      if (!this.#fits(offer, standing, arrival)) continue;
      const captures = rollBack(standing.captures, offer.losses);
      if (!this.#keepsMonotony(offer, captures, arrival.row)) return null;
      takes.push(take(offer, captures, arrival));
      if (this.#plan.selection !== 'any') break;
    }
    return takes;
  }

  #fits(offer: Offer, { captures, bound }: Standing, { row, relevance }: Arrival): boolean {
    const { slot } = offer.step;
    if (!relevance.isWatched[slot] || row.time > offer.latestTime) return false;
    const readable = offer.losses.length === 0 ? bound : bindingsOf(rollBack(captures, offer.losses), this.#readsList);
    return (this.#watches[slot] as Watch).accepts(row, readable);
  }

  #keepsMonotony(offer: Offer, captures: Captures, row: Row): boolean {
    const { monotone } = this.#plan;
    if (monotone === null || this.#monotoneValue === null || offer.step.slot !== monotone.slot) return true;
    const value = this.#monotoneValue(scopeOf(row));
    const previous = captures[monotone.slot] ?? null;
    if (previous === null) return value !== null;
    const isNext = monotone.direction === 'increasing' ? greater : less;
    return isNext(value, this.#monotoneValue(scopeOf(previous.row))) === true;
  }

  /** Under `.strict()` the next event of the sources must be the next step, as long as a step is waited for. */
  #breaksContiguity({ offers }: Standing, { relevance }: Arrival): boolean {
    return this.#plan.selection === 'strict' && relevance.isStepSource && offers.length > 0;
  }

  /** The runs that the event opens: one, or under `.stam()` one for each first step that it fits. */
  open(initial: readonly Offer[], isTaken: boolean, arrival: Arrival): readonly Take[] {
    const standing = { captures: this.#nothing as readonly null[], bound: this.#nothing };
    const takes: Take[] = [];
    for (const offer of initial) {
      if (offer.skipsLeading && isTaken && this.#plan.selection !== 'any') continue;
      if (!this.#fits(offer, standing as unknown as Standing, arrival)) continue;
      if (!this.#keepsMonotony(offer, standing.captures, arrival.row)) continue;
      takes.push(take(offer, standing.captures, arrival));
      if (this.#plan.selection !== 'any') break;
    }
    return takes;
  }

  /** What conditions and taps read of captures. */
  readable(captures: Captures): readonly Binding[] {
    return bindingsOf(captures, this.#readsList);
  }
}

function take(offer: Offer, captures: Captures, { row, at }: Arrival): Take {
  const { slot } = offer.step;
  const taking: Taking = { time: row.time, captures };
  const residual: Residual = offer.take(taking);
  const capture = new Capture(row, at, offer.element, taking.captures[slot] ?? null);
  return { slot, progress: { residual, captures: withCapture(taking.captures, slot, capture) } };
}

function listReadsOf(plan: PatternPlan): readonly boolean[] {
  const reads: boolean[] = plan.steps.map(() => false);
  for (const { where } of [...plan.steps, ...plan.cancels]) {
    noteListReads(where, (slot) => {
      reads[slot] = true;
    });
  }
  return reads;
}

/** The context of a pattern that has not begun. */
export const BEFORE_THE_FIRST_EVENT: RunContext = {
  isBinding: true,
  isClosuresOnly: false,
  latestTime: Infinity,
  patternDeadline: Infinity,
};
