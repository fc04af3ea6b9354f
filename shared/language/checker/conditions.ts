import type { Expression } from '../ast/nodes.ts';
import type { PlanExpression } from '../plan/plan.ts';
import type { CheckContext } from './context.ts';
import type { StepNames } from './scope.ts';

/**
 * The `where` of a pattern step: all conditions joined by `and`, null when there is none. The candidate is the current row;
 * earlier aliases are slots. Inside a closure `b.f` is the previous capture, and a comparison that mentions it becomes an
 * `unless_first` node; in a comparison without any bare field `b.f` is the candidate (W035). E060 for what is no bool.
 */
export function lowerStepCondition(_conditions: readonly Expression[], _names: StepNames, _context: CheckContext): PlanExpression | null {
  throw new Error('not built');
}
