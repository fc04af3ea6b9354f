import type { Expression } from '../../ast/nodes.ts';
import type { PlanExpression } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import type { NameScope } from '../scope.ts';

/** How the expressions in statements are lowered. */
export interface Lowering {
  readonly context: CheckContext;
  readonly lower: (node: Expression, scope: NameScope) => PlanExpression;
  readonly lowerBool: (node: Expression, scope: NameScope) => PlanExpression;
}
