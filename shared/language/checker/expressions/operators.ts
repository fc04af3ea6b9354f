import type { Binary, Conditional, Expression, Index, IsNull, MapLiteral, Range, Slice, TemplateLiteral, Unary } from '../../ast/nodes.ts';
import { casesOf, chainOf, nestedOperandsMax, operandsOf } from '../../ast/operator-chain.ts';
import { durationIn } from '../../diagnostics/foreign-words.ts';
import { isCondition } from '../../functions/truth.ts';
import type { PlanExpression } from '../../plan/plan.ts';
import { ANY, arrayOf, BOOL, INT, isNumeric, mapOf, NULL, printType, STR, type Type } from '../../plan/types.ts';
import { unwrapped } from '../walk.ts';
import { constant, fold, UNRESOLVED } from './fold.ts';
import { combined, SteppedValue } from './long-chains.ts';
import { joinTypes, type Typing, typeOfBinary, typeOfUnary } from './operator-types.ts';
import type { Place } from './place.ts';

/** A chain of operators of any length, without recursion through it. */
export function lowerBinary(node: Binary, place: Place): PlanExpression {
  if (node.operator === 'and' || node.operator === 'or' || node.operator === '??') return lowerGrouping(node, place);
  const { first, links } = chainOf(node);
  return links.length > nestedOperandsMax ? lowerStepped(first, links, place) : lowerPair(node, place);
}

/** An operator that groups either way. */
function lowerGrouping(node: Binary, place: Place): PlanExpression {
  const lower = node.operator === '??' ? place.lower : place.lowerBool;
  return combined(
    operandsOf(node).map((operand) => lower(operand)),
    (left, right) => ofOperands(node, left, right, place),
  );
}

/** A long chain of other operators: each works on what those before it gave. */
function lowerStepped(first: Expression, links: readonly Binary[], place: Place): PlanExpression {
  const [start, ...others] = links as readonly [Binary, ...Binary[]];
  const value = new SteppedValue(place.scope, lowerPair({ ...start, left: first }, place));
  for (const link of others) value.step(lowerBehind(value.value, link, place));
  return value.result();
}

function lowerBehind(left: PlanExpression, link: Binary, place: Place): PlanExpression {
  if (isEquality(link) && unwrapped(link.right).kind === 'NullLiteral') return isNull(left, link.operator === '!=');
  return ofOperands(link, left, place.lower(link.right), place);
}

function lowerPair(node: Binary, place: Place): PlanExpression {
  const tested = isEquality(node) ? comparedWithNull(node) : undefined;
  if (tested) return isNull(place.lower(tested), node.operator === '!=');
  const left = place.lower(node.left);
  return ofOperands(node, left, place.lower(node.right), place);
}

function isEquality({ operator }: Binary): boolean {
  return operator === '==' || operator === '!=';
}

function ofOperands(node: Binary, left: PlanExpression, right: PlanExpression, place: Place): PlanExpression {
  const { operator } = node;
  if (operator === 'and' || operator === 'or') return fold({ kind: 'logical', operator, left, right, type: BOOL });
  const typing = typeOfBinary(operator, left.type, right.type);
  const type = typed('type' in typing ? typing : { ...typing, ...quotedHint(node, place) }, node, place);
  if (!type) return UNRESOLVED;
  return fold(operator === '??' ? { kind: 'logical', operator, left, right, type } : { kind: 'binary', operator, left, right, type });
}

/** What is in quotes and is compared with something that is not: `amount > "5"`. */
function quotedHint({ left, right }: Binary, { context }: Place): { readonly hint?: string } {
  const quoted = [left, right].map(unwrapped).find((side) => side.kind === 'StringLiteral');
  const text = quoted?.kind === 'StringLiteral' ? quoted.value : '';
  const value = /^-?\d+(?:\.\d+)?$/.test(text) || text === 'true' || text === 'false' ? text : durationIn(text);
  return quoted === undefined || value === undefined
    ? {}
    : { hint: `leave the quotes out: \`${value}\`, not \`${context.text(quoted.span)}\`` };
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
  const { cases, otherwise } = casesOf(node);
  return cases.length > nestedOperandsMax ? lowerCases(cases, otherwise, place) : lowerOneCase(node, place);
}

/** A long table of cases as a body with one `if`. */
function lowerCases(cases: readonly Conditional[], otherwise: Expression, place: Place): PlanExpression {
  const branches = cases.map(({ condition, then }) => {
    const value = place.lower(then);
    return { condition: place.lowerBool(condition), value, body: [{ kind: 'return', value } as const] };
  });
  const last = place.lower(otherwise);
  const type = branches.reduce((common, { value }) => joinTypes(common, value.type), last.type);
  const table = branches.map(({ condition, body }) => ({ condition, body }));
  return { kind: 'block', body: [{ kind: 'if', branches: table, otherwise: [{ kind: 'return', value: last }] }], type };
}

function lowerOneCase(node: Conditional, place: Place): PlanExpression {
  const condition = place.lowerBool(node.condition);
  const then = place.lower(node.then);
  const otherwise = place.lower(node.otherwise);
  const type = joinTypes(then.type, otherwise.type);
  const isKnown = condition.kind === 'constant' && condition !== UNRESOLVED && isCondition(condition.value);
  if (isKnown) return condition.value === true ? then : otherwise;
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
