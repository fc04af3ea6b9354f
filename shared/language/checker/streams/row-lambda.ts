import type { Expression, Lambda } from '../../ast/nodes.ts';
import type { PlanExpression } from '../../plan/plan.ts';
import { printType } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import { lowerLambda } from '../expressions/lambdas.ts';
import type { Place } from '../expressions/place.ts';
import { lowerBool, lowerExpression } from '../lower.ts';
import type { NameScope } from '../scope.ts';
import { CURRENT, withRows } from '../scopes.ts';
import { unwrapped } from '../walk.ts';
import { rowShape, type Stage, scopeOf } from './stage.ts';

/** A condition on the rows of `stage`: a bool, or a lambda from the row to a bool. */
export function lowerCondition(written: Expression, stage: Stage, context: CheckContext): PlanExpression {
  const node = unwrapped(written);
  const isLambda = node.kind === 'Lambda';
  const condition = isLambda ? lowerRowLambda(node, stage, context) : lowerBool(written, scopeOf(stage), context);
  if (isPassable(condition, isLambda)) return condition;
  context.report('E060', isLambda ? node.body.span : written.span, `a condition is a bool, not ${printType(condition.type)}`);
  return condition;
}

/** A filter of null would pass nothing, ever; what else is no bool, `lowerBool` has reported. */
function isPassable({ type }: PlanExpression, isLambda: boolean): boolean {
  return isLambda ? type.kind === 'bool' || type.kind === 'any' : type.kind !== 'null';
}

/** `x => e` over the rows of `stage`: `x` is the row itself, resolved away; the body also reads fields bare. */
export function lowerRowLambda(node: Lambda, stage: Stage, context: CheckContext): PlanExpression {
  const [row, second] = node.parameters;
  if (second) context.report('E051', second.span, 'this function gets one argument, the event');
  const rows = new Map(row ? [[row.text, { reference: CURRENT, shape: rowShape(stage) }] as const] : []);
  const scope = withRows(scopeOf(stage), rows);
  return lowerLambda({ ...node, parameters: [] }, [], placeIn(scope, context)).body;
}

function placeIn(scope: NameScope, context: CheckContext): Place {
  const place: Place = {
    scope,
    context,
    lower: (node, inner = scope) => lowerExpression(node, inner, context),
    lowerBool: (node, inner = scope) => lowerBool(node, inner, context),
    lowerLambda: (node, parameters) => lowerLambda(node, parameters, place),
  };
  return place;
}
