import type { CancelPlan, InputPlan, PatternPlan, PlanExpression, StepPlan } from '../../../shared/language/plan/plan.ts';
import { prepareCondition } from '../evaluate/condition.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Binding, NO_ROW, type Row, type Scope } from '../operators/row.ts';
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

export function buildWatches(plan: PatternPlan, environment: OperatorEnvironment): readonly Watch[] {
  const steps = plan.steps.map((step) => watch(step.slot, step.where, environment));
  return [...steps, ...plan.cancels.map((cancel, index) => watch(plan.steps.length + index, cancel.where, environment))];
}

function watch(id: number, where: PlanExpression | null, environment: OperatorEnvironment): Watch {
  const accepts = where === null ? acceptAll : inScope(prepareCondition(where, environment));
  return { id, key: equalityKeyOf(where, id), accepts };
}

function acceptAll(): boolean {
  return true;
}

function inScope(holds: (scope: Scope) => boolean): (row: Row, bound: readonly Binding[]) => boolean {
  const scope: { -readonly [K in keyof Scope]: Scope[K] } = { row: NO_ROW, bound: [], aggregates: [], locals: [] };
  return (row, bound) => {
    scope.row = row;
    scope.bound = bound;
    return holds(scope);
  };
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
