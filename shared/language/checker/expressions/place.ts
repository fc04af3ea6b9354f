import type { Expression, Lambda } from '../../ast/nodes.ts';
import type { LambdaExpression, PlanExpression } from '../../plan/plan.ts';
import { ANY, type Type } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import type { NameScope } from '../scope.ts';
import { constant } from './fold.ts';

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

/** Stands in for what could not be resolved; its mistake has been reported. */
export const UNRESOLVED: PlanExpression = constant(null, ANY);
