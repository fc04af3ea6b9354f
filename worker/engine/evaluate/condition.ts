import { holds } from '../../../shared/language/functions/truth.ts';
import type { PlanExpression } from '../../../shared/language/plan/plan.ts';
import type { Evaluate, Scope } from '../operators/row.ts';

/** A condition made ready to run. @throws EvaluationError when it runs and gives neither a bool nor null */
export function prepareCondition(
  plan: PlanExpression,
  environment: { evaluator(expression: PlanExpression): Evaluate },
): (scope: Scope) => boolean {
  const evaluate = environment.evaluator(plan);
  return (scope) => holds(evaluate(scope));
}
