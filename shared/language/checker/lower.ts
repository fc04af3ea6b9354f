import { Duration, Timestamp, type Value } from '../../events/value.ts';
import type { Argument, Call, Expression } from '../ast/nodes.ts';
import { durationIn } from '../diagnostics/foreign-words.ts';
import { nearestName } from '../diagnostics/nearest-name.ts';
import type { InvokeExpression, NamedExpression, PlanExpression } from '../plan/plan.ts';
import { ANY, BOOL, DURATION, FLOAT, INT, isNumeric, printType, STR, TIMESTAMP } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { requireBool } from './expressions/bools.ts';
import { lowerCall, lowerInvocation } from './expressions/calls.ts';
import { isExpression } from './expressions/closures.ts';
import { constant, UNRESOLVED } from './expressions/fold.ts';
import { lowerLambda } from './expressions/lambdas.ts';
import { lowerClosureItem, lowerMember, namespacePath } from './expressions/members.ts';
import { didYouMean, lowerName } from './expressions/names.ts';
import {
  lowerArray,
  lowerBinary,
  lowerConditional,
  lowerIndex,
  lowerIsNull,
  lowerMap,
  lowerRange,
  lowerSlice,
  lowerTemplate,
  lowerUnary,
  NULL_CONSTANT,
} from './expressions/operators.ts';
import type { Place } from './expressions/place.ts';
import type { NameScope } from './scope.ts';
import { isTooLargeToTell } from './type-chains.ts';
import { unwrapped } from './walk.ts';

/**
 * The typed, resolved form of an expression. Reports what is wrong in it and then stands in with a constant null of type
 * `any`, so that one mistake is told once. Constant parts are folded. Marks what it refers to as used.
 */
export function lowerExpression(node: Expression, scope: NameScope, context: CheckContext): PlanExpression {
  return lowerAt(node, placeOf(scope, context));
}

/** All parts of an expression that stand in one scope share the place. */
function lowerAt(node: Expression, place: Place): PlanExpression {
  const { scope, context } = place;
  context.spend('parts', 1, node.span);
  const special = scope.intercept?.(node, (part, inner) => lowerExpression(part, inner, context));
  const lowered = special ?? lowerPlain(node, place);
  return isTooLargeToTell(lowered.type) ? { ...lowered, type: ANY } : lowered;
}

function placeOf(scope: NameScope, context: CheckContext): Place {
  const place: Place = {
    scope,
    context,
    lower: (node, inner = scope) => (inner === scope ? lowerAt(node, place) : lowerExpression(node, inner, context)),
    lowerBool: (node, inner = scope) => (inner === scope ? lowerBoolAt(node, place) : lowerBool(node, inner, context)),
    lowerLambda: (node, parameters) => lowerLambda(node, parameters, place),
  };
  return place;
}

/** One case for each kind of expression. */
function lowerPlain(node: Expression, place: Place): PlanExpression {
  switch (node.kind) {
    case 'NumberLiteral':
      return constant(node.value, node.type === 'int' ? INT : FLOAT);
    case 'StringLiteral':
      return constant(node.value, STR);
    case 'BoolLiteral':
      return constant(node.value, BOOL);
    case 'DurationLiteral':
      return constant(new Duration(node.ms), DURATION);
    case 'TimestampLiteral':
      return constant(new Timestamp(node.ms), TIMESTAMP);
    case 'NullLiteral':
      return NULL_CONSTANT;
    case 'TemplateLiteral':
      return lowerTemplate(node, place);
    case 'ArrayLiteral':
      return lowerArray(node.items, place);
    case 'MapLiteral':
      return lowerMap(node, place);
    case 'Name':
      return lowerName(node, place);
    case 'Member':
      return lowerMember(node, place);
    case 'Index':
      return lowerClosureItem(node, place) ?? lowerIndex(node, place);
    case 'Slice':
      return lowerSlice(node, place);
    case 'Call':
      return lowerCall(node, place);
    case 'Conditional':
      return lowerConditional(node, place);
    case 'Unary':
      return lowerUnary(node, place);
    case 'Binary':
      return lowerBinary(node, place);
    case 'Range':
      return lowerRange(node, place);
    case 'IsNull':
      return lowerIsNull(node, place);
    case 'Parenthesized':
      return place.lower(node.expression);
    case 'Filtered':
      return misplaced(node, place, 'E073', '`where` behind a call belongs to the aggregates of `.aggregate(..)`');
    case 'Lambda':
      return misplaced(node, place, 'E062', 'a lambda stands only as the argument of a function of the language');
    case 'Block':
      return misplaced(node, place, 'E062', 'a block stands only as the body of a lambda');
    case 'Hole':
      return misplaced(node, place, 'E034', `\`{${node.name}}\` is no variable of a compile-time \`for\` around it`);
  }
}

function misplaced(node: Expression, { context }: Place, code: 'E034' | 'E062' | 'E073', message: string): PlanExpression {
  context.report(code, node.span, message);
  return UNRESOLVED;
}

/** As `lowerExpression`, and E060 unless it is a bool; `any` passes, and so does null, which counts as false. */
export function lowerBool(node: Expression, scope: NameScope, context: CheckContext): PlanExpression {
  return lowerBoolAt(node, placeOf(scope, context));
}

function lowerBoolAt(node: Expression, place: Place): PlanExpression {
  const lowered = lowerAt(node, place);
  return requireBool(node, lowered.type, place.context) ? lowered : UNRESOLVED;
}

/** E061 for an expression that is no duration; a plain number gets the hint to write a unit. */
export function reportNoDuration(node: Expression, lowered: PlanExpression, context: CheckContext): void {
  const hint = isNumeric(lowered.type)
    ? `write a unit: ${context.text(node.span)}s, ${context.text(node.span)}m`
    : durationHint(lowered.kind === 'constant' ? lowered.value : null);
  const found = lowered.kind === 'constant' && lowered.value === null ? 'null' : printType(lowered.type);
  context.report('E061', node.span, `a duration is needed here, not ${found}`, hint);
}

/** For a text that says a duration: `"5m"`. */
export function durationHint(value: Value): string | undefined {
  const text = typeof value === 'string' ? durationIn(value) : undefined;
  return text && `a duration has no quotes: write \`${text}\``;
}

/**
 * The arguments of `.select(..)`, `.emit(..)` and their like as named values: `n: e`, or `f` and `a.f` named after their
 * last part. Reports an argument that needs a name (E082), a name given twice (E081), and one that is no expression (E062).
 */
export function lowerNamed(args: readonly Argument[], scope: NameScope, context: CheckContext): NamedExpression[] {
  const seen = new Set<string>();
  const named: NamedExpression[] = [];
  for (const argument of args) {
    const node = expressionOf(argument, context);
    if (!node) continue;
    const name = argument.name?.text ?? impliedName(node);
    const value = lowerExpression(node, scope, context);
    if (name === undefined) {
      context.report('E082', argument.span, 'this value needs a name', `write name: ${context.text(argument.span)}`);
    } else if (seen.has(name)) context.report('E081', argument.span, `\`${name}\` is given twice`);
    else named.push({ name, value });
    if (name !== undefined) seen.add(name);
  }
  return named;
}

/** The name that a value without one gets: that of the field. */
export function impliedName(node: Expression): string | undefined {
  const inner = unwrapped(node);
  if (inner.kind === 'Name') return inner.name;
  return inner.kind === 'Member' ? inner.name.text : undefined;
}

/** The argument's value when it is an expression; undefined (and E062) for a chain, a step or a pattern. */
export function expressionOf(argument: Argument, context: CheckContext): Expression | undefined {
  if (isExpression(argument.value)) return argument.value;
  context.report('E062', argument.span, 'an expression is needed here');
  return undefined;
}

/**
 * The call of `.process(f(..))`: a function of the program, which may emit. What it emits is in `FunctionSymbol.emits` of
 * `context.table.functions[index]`. Undefined (and E050) when it is no call of such a function.
 */
export function lowerProcessCall(node: Expression, scope: NameScope, context: CheckContext): InvokeExpression | undefined {
  const call = unwrapped(node);
  const place = placeOf(scope, context);
  const name = call.kind === 'Call' ? calledName(call, place) : undefined;
  const symbol = name === undefined ? undefined : context.symbols.find('function', name);
  if (call.kind === 'Call' && symbol) return lowerInvocation(symbol, call, place, true);
  const nearest = name === undefined ? undefined : nearestName(name, context.symbols.names('function'));
  const message = name === undefined ? '`.process` calls a function of the program' : `the program declares no function \`${name}\``;
  context.report('E050', node.span, message, nearest ? didYouMean(nearest) : 'write .process(f(x)) with `fn f(x): ..`');
  return undefined;
}

function calledName(call: Call, place: Place): string | undefined {
  const callee = unwrapped(call.callee);
  if (callee.kind === 'Name') return callee.name;
  const path = namespacePath(callee, place);
  if (path) place.context.symbols.useNamespace(path.split('.')[0] as string);
  return path;
}
