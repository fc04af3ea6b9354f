import type { Binary, Conditional, Expression, Index, IsNull, MapLiteral, Range, Slice, TemplateLiteral, Unary } from '../../ast/nodes.ts';
import type { PlanExpression } from '../../plan/plan.ts';
import { ANY, arrayOf, BOOL, INT, isNumeric, mapOf, NULL, printType, STR, type Type } from '../../plan/types.ts';
import { unwrapped } from '../walk.ts';
import { constant, fold, UNRESOLVED } from './fold.ts';
import { joinTypes, type Typing, typeOfBinary, typeOfUnary } from './operator-types.ts';
import type { Place } from './place.ts';

export function lowerBinary(node: Binary, place: Place): PlanExpression {
  const { operator } = node;
  if (operator === 'and' || operator === 'or') {
    const left = place.lowerBool(node.left);
    return fold({ kind: 'logical', operator, left, right: place.lowerBool(node.right), type: BOOL });
  }
  if (operator === '==' || operator === '!=') {
    const tested = comparedWithNull(node);
    if (tested) return isNull(place.lower(tested), operator === '!=');
  }
  const left = place.lower(node.left);
  const right = place.lower(node.right);
  const type = typed(typeOfBinary(operator, left.type, right.type), node, place);
  if (!type) return UNRESOLVED;
  return fold(operator === '??' ? { kind: 'logical', operator, left, right, type } : { kind: 'binary', operator, left, right, type });
}

/** The other side of a comparison with the literal `null`. */
function comparedWithNull({ left, right }: Binary): Expression | undefined {
  if (unwrapped(right).kind === 'NullLiteral') return left;
  return unwrapped(left).kind === 'NullLiteral' ? right : undefined;
}

function isNull(operand: PlanExpression, negated: boolean): PlanExpression {
  return operand === UNRESOLVED ? operand : fold({ kind: 'is_null', operand, negated, type: BOOL });
}

export function lowerIsNull(node: IsNull, place: Place): PlanExpression {
  return isNull(place.lower(node.operand), node.negated);
}

function typed(typing: Typing, node: Expression, { context }: Place): Type | undefined {
  if ('type' in typing) return typing.type;
  context.report('E062', node.span, typing.problem, typing.hint);
  return undefined;
}

export function lowerUnary(node: Unary, place: Place): PlanExpression {
  const { operator } = node;
  if (operator === 'not') return fold({ kind: 'unary', operator, operand: place.lowerBool(node.operand), type: BOOL });
  const operand = place.lower(node.operand);
  const type = typed(typeOfUnary(operator, operand.type), node, place);
  return type ? fold({ kind: 'unary', operator, operand, type }) : UNRESOLVED;
}

export function lowerConditional(node: Conditional, place: Place): PlanExpression {
  const condition = place.lowerBool(node.condition);
  const then = place.lower(node.then);
  const otherwise = place.lower(node.otherwise);
  const type = joinTypes(then.type, otherwise.type);
  if (condition.kind === 'constant' && condition !== UNRESOLVED) return condition.value === true ? then : otherwise;
  return { kind: 'if', condition, then, otherwise, type };
}

export function lowerArray(items: readonly Expression[], place: Place): PlanExpression {
  const lowered = items.map((item) => place.lower(item));
  const item = lowered.reduce<Type>((common, { type }) => joinTypes(common, type), NULL);
  return fold({ kind: 'array', items: lowered, type: arrayOf(item.kind === 'null' ? ANY : item) });
}

export function lowerMap(node: MapLiteral, place: Place): PlanExpression {
  const seen = new Set<string>();
  const entries = node.entries.map(({ key, value, span }) => {
    if (seen.has(key)) place.context.report('E081', span, `the key \`${key}\` is given twice`);
    seen.add(key);
    return { key, value: place.lower(value) };
  });
  const value = entries.reduce<Type>((common, entry) => joinTypes(common, entry.value.type), NULL);
  return fold({ kind: 'map', entries, type: mapOf(value.kind === 'null' ? ANY : value) });
}

export function lowerTemplate(node: TemplateLiteral, place: Place): PlanExpression {
  const parts = node.parts.map((part) => (typeof part === 'string' ? part : place.lower(part)));
  return fold({ kind: 'template', parts, type: STR });
}

export function lowerRange(node: Range, place: Place): PlanExpression {
  const from = lowerInt(node.from, 'a range', place);
  const to = lowerInt(node.to, 'a range', place);
  return fold({ kind: 'range', from, to, inclusive: node.inclusive, type: arrayOf(INT) });
}

function lowerInt(node: Expression, of: string, place: Place): PlanExpression {
  const lowered = place.lower(node);
  if (isNumeric(lowered.type) || lowered.type.kind === 'any' || lowered.type.kind === 'null') return lowered;
  place.context.report('E062', node.span, `a bound of ${of} is an int, not ${printType(lowered.type)}`);
  return UNRESOLVED;
}

export function lowerSlice(node: Slice, place: Place): PlanExpression {
  const object = place.lower(node.object);
  const from = node.from && lowerInt(node.from, 'a slice', place);
  const to = node.to && lowerInt(node.to, 'a slice', place);
  const { type } = object;
  if (type.kind !== 'array' && type.kind !== 'str' && type.kind !== 'any' && type.kind !== 'null') {
    place.context.report('E062', node.span, `only strings and arrays have slices, not ${printType(type)}`);
    return UNRESOLVED;
  }
  return fold({ kind: 'slice', object, from, to, type });
}

export function lowerIndex(node: Index, place: Place): PlanExpression {
  const object = place.lower(node.object);
  const index = place.lower(node.index);
  const type = indexType(object.type, index);
  if (type) return fold({ kind: 'index', object, index, type });
  const message = `${printType(object.type)} cannot be indexed by ${printType(index.type)}`;
  place.context.report('E062', node.span, message);
  return UNRESOLVED;
}

function indexType(object: Type, index: PlanExpression): Type | undefined {
  const isOpen = index.type.kind === 'any' || index.type.kind === 'null';
  const isInt = isOpen || isNumeric(index.type);
  const isText = isOpen || index.type.kind === 'str';
  switch (object.kind) {
    case 'any':
    case 'null':
      return isInt || isText ? ANY : undefined;
    case 'array':
      return isInt ? object.item : undefined;
    case 'str':
      return isInt ? STR : undefined;
    case 'map':
      return isText ? object.value : undefined;
    case 'record':
      return isText ? recordItem(object.fields, index) : undefined;
    default:
      return undefined;
  }
}

function recordItem(fields: readonly { readonly name: string; readonly type: Type }[], index: PlanExpression): Type {
  return (index.kind === 'constant' && fields.find((field) => field.name === index.value)?.type) || ANY;
}

export const NULL_CONSTANT: PlanExpression = constant(null, NULL);
