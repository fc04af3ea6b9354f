import type { CancelPlan, InputPlan, PatternPlan, PlanExpression, StepPlan } from '../../../shared/language/plan/plan.ts';
import { prepareCondition } from '../evaluate/condition.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Binding, type Row, reusableScope } from '../operators/row.ts';
import { type EqualityKey, equalityKeyOf } from './equality-key.ts';

/**
 * What an event is held against: a step, a `NOT`, a `.not(..)`. Those of steps are numbered by slot, those of `.not`
 * behind them.
 */
export interface Watch {
  readonly id: number;
  readonly key: EqualityKey | null;
  /** Whether the event fits, next to what a run holds. Throws `EvaluationError`. */
  accepts(row: Row, bound: readonly Binding[]): boolean;
}

/** What of a pattern an event from one origin may concern. */
export interface Relevance {
  /** By watch. */
  readonly isWatched: readonly boolean[];
  readonly watches: readonly number[];
  readonly cancels: readonly number[];
  /** Whether it comes from a source of a step (and not only of a `.not`): `.strict()` counts it then. */
  readonly isStepSource: boolean;
}

export function buildWatches({ steps, cancels }: PatternPlan, environment: OperatorEnvironment): readonly Watch[] {
  return [...steps, ...cancels].map(({ where }, id) => ({ id, key: equalityKeyOf(where, id), accepts: acceptanceOf(where, environment) }));
}

function acceptanceOf(where: PlanExpression | null, environment: OperatorEnvironment): Watch['accepts'] {
  if (where === null) return () => true;
  const holds = prepareCondition(where, environment);
  const scopeOf = reusableScope();
  return (row, bound) => holds(scopeOf(row, bound));
}

/** Null when nothing of the pattern takes rows from there. */
export function relevanceOf(plan: PatternPlan, origin: string): Relevance | null {
  const inputs = [...plan.steps, ...plan.cancels].map(({ input }: StepPlan | CancelPlan) => isFrom(input, origin));
  const watches = inputs.flatMap((matches, id) => (matches ? [id] : []));
  if (watches.length === 0) return null;
  const cancels = watches.filter((id) => id >= plan.steps.length);
  return { isWatched: inputs, watches, cancels, isStepSource: cancels.length < watches.length };
}

function isFrom({ from }: InputPlan, origin: string): boolean {
  switch (from.kind) {
    case 'event':
      return from.types.some((type) => origin === `event:${type}`);
    case 'stream':
      return origin === `stream:${from.stream}`;
    case 'late':
      return origin === `late:${from.stream}`;
    case 'branch':
      return origin === `branch:${from.stream}:${from.branch}`;
  }
}
