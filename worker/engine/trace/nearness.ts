import type { PatternPlan, StepPlan } from '../../../shared/language/plan/plan.ts';
import { NO_ROW } from '../operators/row.ts';
import { lastCapture, rollBack } from '../patterns/captures.ts';
import type { EnabledStep } from '../patterns/residual.ts';
import type { PartialMatch } from '../patterns/run.ts';
import { type ConditionReader, scopeBehind, weigh } from './condition.ts';
import type { Nearness } from './key-record.ts';

/** A step, and the run that may wait for it; without one, the steps that open a run. */
interface Waiting {
  readonly slot: number;
  readonly run: PartialMatch | null;
  readonly first: readonly EnabledStep[];
}

/** Of events for a step: how much of its condition holds next to what the run has. */
export function nearnessTo(plan: PatternPlan, { slot, run, first }: Waiting, reader: ConditionReader): Nearness {
  const { where } = plan.steps[slot] as StepPlan;
  const captures = run?.progress.captures ?? plan.steps.map(() => null);
  const enabled = (run?.progress.state.enabledSteps ?? first).find(({ step }) => step.slot === slot);
  const scope = scopeBehind(rollBack(captures, enabled?.discards ?? []), plan, NO_ROW);
  return {
    since: lastCapture(captures)?.at ?? 0,
    of: ({ row }) => (where === null ? 0 : weigh(where, { ...scope, row }, reader).held),
  };
}
