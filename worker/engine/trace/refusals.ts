import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { type Captures, rollBack } from '../patterns/captures.ts';
import type { EnabledStep } from '../patterns/residual.ts';
import type { Relevance } from '../patterns/watch.ts';
import { type ConditionReader, scopeBehind, weigh } from './condition.ts';
import { stepText, timeProblem } from './explain-pattern.ts';
import type { PatternView } from './pattern-view.ts';

/** A step that the event came for, and why none of the runs that wait for it takes the event. */
interface Refusal {
  readonly step: string;
  readonly why: string;
}

/** An event that has come to a pattern, before anything is done with it. */
interface Coming {
  readonly row: Row;
  readonly relevance: Relevance;
  /** Key of its partition. */
  readonly key: string;
}

interface Judged {
  readonly slot: number;
  readonly fits: boolean;
  /** How many of the conditions held; Infinity when all did and it is the time that does not fit. */
  readonly held: number;
  /** What did not fit. Of many runs one is told, so the words are made for that one. */
  readonly why: () => string;
}

/** Of each step the reason that lies nearest: most of its conditions held. Steps that take the event are left out. */
export function refusalsOf(plan: PatternPlan, view: PatternView, coming: Coming, reader: ConditionReader): readonly Refusal[] {
  const nearest = new Map<number, Judged>();
  const fitting = new Set<number>();
  for (const judged of judgementsOf(plan, view, coming, reader)) {
    if (judged.fits) fitting.add(judged.slot);
    else if ((nearest.get(judged.slot)?.held ?? -1) < judged.held) nearest.set(judged.slot, judged);
  }
  const refused = [...nearest.values()].filter(({ slot }) => !fitting.has(slot));
  return refused.map(({ slot, why }) => ({ step: stepText(plan.steps[slot] as StepPlan), why: why() }));
}

function* judgementsOf(plan: PatternPlan, view: PatternView, coming: Coming, reader: ConditionReader): Generator<Judged> {
  const asked = { plan, coming, reader };
  for (const run of view.runs) {
    if (run.key !== coming.key) continue;
    const { captures, base, state } = run.progress;
    const span = { first: run.firstTime - (plan.withinMs ?? Infinity), last: run.lastTime };
    for (const enabled of state.enabledSteps)
      yield* judgementOf(asked, enabled, { captures: rollBack(captures, enabled.discards), base, ...span });
  }
  const nothing = { captures: plan.steps.map(() => null), base: 0, first: -Infinity, last: Infinity };
  for (const enabled of view.first) yield* judgementOf(asked, enabled, nothing);
}

const nothingAsked = { held: 0, failed: null };

interface Asked {
  readonly plan: PatternPlan;
  readonly coming: Coming;
  readonly reader: ConditionReader;
}

interface Standing {
  readonly captures: Captures;
  readonly base: number;
  /** The event times that the pattern's `within` allows. */
  readonly first: number;
  readonly last: number;
}

function* judgementOf({ plan, coming, reader }: Asked, enabled: EnabledStep, { captures, base, first, last }: Standing): Generator<Judged> {
  const { slot } = enabled.step;
  const { row, relevance } = coming;
  if (!relevance.isWatched[slot]) return;
  const step = plan.steps[slot] as StepPlan;
  const { held, failed } = step.where === null ? nothingAsked : weigh(step.where, scopeBehind(captures, plan, row), reader);
  if (failed !== null) return void (yield { slot, fits: false, held, why: () => failed().text });
  const span = { earliest: Math.max(first, base + enabled.earliestTime), latest: Math.min(last, base + enabled.latestTime) };
  const problem = timeProblem(row.time, span);
  yield { slot, fits: problem === null, held: Infinity, why: () => problem ?? '' };
}
