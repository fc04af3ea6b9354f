import type { Expression, Lambda } from '../../ast/nodes.ts';
import type { LambdaExpression, PlanExpression } from '../../plan/plan.ts';
import type { Type } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import type { NameScope } from '../scope.ts';

/** Where an expression is lowered. */
export interface Place {
  readonly scope: NameScope;
  readonly context: CheckContext;
  /** Lowers a part, in this scope unless another is given. */
  readonly lower: (node: Expression, scope?: NameScope) => PlanExpression;
  /** As `lower`, and E060 unless it is a bool. */
  readonly lowerBool: (node: Expression, scope?: NameScope) => PlanExpression;
  /** A lambda for parameters of these types. */
  readonly lowerLambda: (node: Lambda, parameters: readonly Type[]) => LambdaExpression;
}

export { UNRESOLVED } from './fold.ts';
