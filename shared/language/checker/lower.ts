import type { Argument, Expression } from '../ast/nodes.ts';
import type { NamedExpression, PlanExpression } from '../plan/plan.ts';
import type { CheckContext } from './context.ts';
import type { NameScope } from './scope.ts';

/**
 * The typed, resolved form of an expression. Reports what is wrong in it and then stands in with a constant null of type
 * `any`, so that one mistake is told once. Constant parts are folded. Marks what it refers to as used.
 */
export function lowerExpression(_node: Expression, _scope: NameScope, _context: CheckContext): PlanExpression {
  throw new Error('not built');
}

/** As `lowerExpression`, and E060 unless it is a bool (`any` passes). */
export function lowerBool(_node: Expression, _scope: NameScope, _context: CheckContext): PlanExpression {
  throw new Error('not built');
}

/** As `lowerExpression`, and E061 unless it is a duration (`any` passes). */
export function lowerDuration(_node: Expression, _scope: NameScope, _context: CheckContext): PlanExpression {
  throw new Error('not built');
}

/**
 * The arguments of `.select(..)`, `.emit(..)` and their like as named values: `n: e`, or `f` and `a.f` named after their
 * last part. Reports an argument that needs a name (E082), a name given twice (E081), and one that is no expression (E062).
 */
export function lowerNamed(_args: readonly Argument[], _scope: NameScope, _context: CheckContext): NamedExpression[] {
  throw new Error('not built');
}

/** Arguments that must be plain unnamed expressions, in written order; names are refused (E080), chains and steps too (E062). */
export function lowerArguments(_args: readonly Argument[], _scope: NameScope, _context: CheckContext): PlanExpression[] {
  throw new Error('not built');
}

/** The argument's value when it is an expression; undefined (and E062) for a chain, a step or a pattern. */
export function expressionOf(_argument: Argument, _context: CheckContext): Expression | undefined {
  throw new Error('not built');
}
