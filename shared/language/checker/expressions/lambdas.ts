import type { FunctionStatement, Lambda } from '../../ast/nodes.ts';
import type { LambdaExpression, PlanExpression } from '../../plan/plan.ts';
import { ANY, type Type } from '../../plan/types.ts';
import { extendScope } from '../scopes.ts';
import { joinTypes } from './operator-types.ts';
import type { Place } from './place.ts';
import { lowerBody } from './statements.ts';

/** A lambda: its parameters are slots of the frame around it, so its body sees that frame's locals. */
export function lowerLambda(node: Lambda, types: readonly Type[], place: Place): LambdaExpression {
  const parameters = node.parameters.map(() => place.scope.frame.allocate());
  const locals = new Map<string, PlanExpression>();
  node.parameters.forEach(({ text, span }, position) => {
    if (locals.has(text)) place.context.report('E007', span, `the parameter \`${text}\` stands twice`);
    locals.set(text, { kind: 'local', slot: parameters[position] as number, type: types[position] ?? ANY });
  });
  const scope = extendScope(place.scope, locals);
  const body = node.body.kind === 'Block' ? lowerBlock(node.body.statements, { ...place, scope }) : place.lower(node.body, scope);
  return { kind: 'lambda', parameters, body, text: place.context.text(node.span), type: body.type };
}

/** Whatever reads the value relies on its type, so there is none where a local may hold a value of another. */
function lowerBlock(statements: readonly FunctionStatement[], place: Place): PlanExpression {
  const { doubts } = place.scope.frame;
  const { body, returns } = lowerBody(statements, place.scope, { context: place.context, lower: place.lower, lowerBool: place.lowerBool });
  const type = returns.reduce<Type | undefined>((common, found) => (common ? joinTypes(common, found.type) : found.type), undefined);
  return { kind: 'block', body, type: place.scope.frame.doubts > doubts ? ANY : (type ?? ANY) };
}
