import { EvaluationError } from '../../../events/evaluation-error.ts';
import { beginMaking, makeText } from '../../../events/making.ts';
import { toText } from '../../../events/text.ts';
import { isArray, isMap, type Value } from '../../../events/value.ts';
import * as operations from '../../functions/arithmetic.ts';
import type { FunctionDescriptor } from '../../functions/descriptor.ts';
import { truth } from '../../functions/truth.ts';
import type {
  BinaryExpression,
  ConstantExpression,
  LogicalExpression,
  PlanExpression,
  RangeExpression,
  UnaryExpression,
} from '../../plan/plan.ts';
import { ANY, type Type } from '../../plan/types.ts';

/** Larger results, all that is in them counted, stay what they were: a plan is no place for a million numbers. */
const ITEMS_MAX = 1_000;
const CHARACTERS_MAX = 10_000;
/** Characters that take the room of one item. */
const CHARACTERS_PER_ITEM = 16;

const BINARY_OPERATIONS: Readonly<Record<BinaryExpression['operator'], (left: Value, right: Value) => Value>> = {
  '==': operations.equal,
  '!=': operations.notEqual,
  '<': operations.less,
  '<=': operations.lessOrEqual,
  '>': operations.greater,
  '>=': operations.greaterOrEqual,
  in: operations.isIn,
  'not in': (item, container) => not(operations.isIn(item, container)),
  '|': operations.bitOr,
  '^': operations.bitXor,
  '&': operations.bitAnd,
  '<<': operations.shiftLeft,
  '>>': operations.shiftRight,
  '+': operations.add,
  '-': operations.subtract,
  '*': operations.multiply,
  '/': operations.divide,
  '%': operations.modulo,
  '**': operations.power,
};

const UNARY_OPERATIONS: Readonly<Record<UnaryExpression['operator'], (operand: Value) => Value>> = {
  '-': operations.negate,
  '~': operations.bitNot,
  not: (operand) => !truth(operand, 'not'),
};

function not(found: Value): Value {
  return found === null ? null : found !== true;
}

export function constant(value: Value, type: Type): ConstantExpression {
  return { kind: 'constant', value, type };
}

/** Stands in for what could not be resolved; its mistake has been reported. Never folded into anything. */
export const UNRESOLVED: PlanExpression = constant(null, ANY);

/** Whether every part of an expression could be resolved. */
export function isResolved(expression: PlanExpression): boolean {
  const open: unknown[] = [expression];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === UNRESOLVED) return false;
    if (next !== null && typeof next === 'object' && !('ms' in next)) for (const part of Object.values(next)) open.push(part);
  }
  return true;
}

/** What a call needs to be folded. */
export interface Folding {
  readonly callee: FunctionDescriptor;
  /** Is told of how many items what a call gave is, so that many large results can be refused. */
  readonly spend: (items: number) => void;
}

/** Why expressions over constants fail whenever they are evaluated. */
const failures = new WeakMap<PlanExpression, EvaluationError>();

/** How long the texts are that expressions give which stay what they were. */
const textLengths = new WeakMap<PlanExpression, number>();

/** The length of the text that an expression always gives; undefined where that is not known. */
export function textLengthOf(expression: PlanExpression): number | undefined {
  if (expression.kind !== 'constant') return textLengths.get(expression);
  return typeof expression.value === 'string' ? expression.value.length : undefined;
}

/** A name stands for an expression whose text has this length. */
export function withTextLength(expression: PlanExpression, length: number | undefined): PlanExpression {
  if (length !== undefined) textLengths.set(expression, length);
  return expression;
}

/** Why the expression fails whenever it is evaluated, as far as that is known; undefined where it may not. */
export function failureOf(expression: PlanExpression): EvaluationError | undefined {
  const open = [expression];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const failure = failures.get(next);
    if (failure !== undefined) return failure;
    open.push(...alwaysEvaluated(next));
  }
  return undefined;
}

/** The parts that are evaluated whatever the others give. */
function alwaysEvaluated(node: PlanExpression): readonly PlanExpression[] {
  switch (node.kind) {
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'logical':
      return [node.left];
    case 'array':
      return node.items;
    case 'map':
      return node.entries.map(({ value }) => value);
    case 'member':
      return [node.object];
    case 'call':
      return node.arguments;
    default:
      return [];
  }
}

/**
 * The constant that an expression over constants is, else the expression itself. What fails when it is evaluated, or gives
 * something large, stays as it is.
 */
export function fold(expression: PlanExpression, call?: Folding): PlanExpression {
  const evaluate = isOpen(expression) ? undefined : evaluation(expression, call?.callee);
  const length = evaluate ? undefined : joinedLength(expression);
  if (!evaluate && length === undefined) return expression;
  beginMaking();
  try {
    if (evaluate) return folded(expression, evaluate(), call);
    makeText(length ?? 0);
    return withTextLength(expression, length);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    failures.set(expression, error);
    return expression;
  }
}

function folded(expression: PlanExpression, value: Value, call: Folding | undefined): PlanExpression {
  call?.spend(itemsOf(value));
  if (isSmall(value)) return constant(value, expression.type);
  return withTextLength(expression, typeof value === 'string' ? value.length : undefined);
}

/** Large texts are not kept, but constants that double each other soon cannot be made, which their lengths tell. */
function joinedLength(node: PlanExpression): number | undefined {
  if (node.kind !== 'binary' || node.operator !== '+') return undefined;
  const [left, right] = [textLengthOf(node.left), textLengthOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** Whether an operand is no constant, as is so of most that there are. */
function isOpen(node: PlanExpression): boolean {
  if (node.kind === 'binary' || node.kind === 'logical') return node.left.kind !== 'constant' || node.right.kind !== 'constant';
  return node.kind === 'call' && node.arguments.some(({ kind }) => kind !== 'constant');
}

function evaluation(node: PlanExpression, callee: FunctionDescriptor | undefined): (() => Value) | undefined {
  switch (node.kind) {
    case 'unary':
      return withConstants([node.operand], ([operand]) => UNARY_OPERATIONS[node.operator](operand ?? null));
    case 'binary':
      return withConstants([node.left, node.right], ([left, right]) => BINARY_OPERATIONS[node.operator](left ?? null, right ?? null));
    case 'logical':
      return withConstants([node.left, node.right], ([left, right]) => logical(node.operator, left ?? null, right ?? null));
    case 'is_null':
      return withConstants([node.operand], ([operand]) => (operand === null) !== node.negated);
    case 'array':
      return withConstants(node.items, (items) => items);
    case 'map':
      return withConstants(
        node.entries.map((entry) => entry.value),
        (values) => new Map(node.entries.map((entry, position) => [entry.key, values[position] ?? null])),
      );
    case 'member':
      return withConstants([node.object], ([object]) => operations.field(object ?? null, node.name));
    case 'index':
      return withConstants([node.object, node.index], ([object, index]) => operations.index(object ?? null, index ?? null));
    case 'slice':
      return sliceEvaluation(node.object, node.from, node.to);
    case 'range':
      return isLongRange(node) ? undefined : rangeEvaluation(node);
    case 'template':
      return templateEvaluation(node.parts);
    case 'call':
      return callee && withConstants(node.arguments, (values) => callee.evaluate(values, { now: 0 }));
    default:
      return undefined;
  }
}

function withConstants(parts: readonly PlanExpression[], evaluate: (values: readonly Value[]) => Value): (() => Value) | undefined {
  const values: Value[] = [];
  for (const part of parts) {
    if (part.kind !== 'constant' || part === UNRESOLVED) return undefined;
    values.push(part.value);
  }
  return () => evaluate(values);
}

function logical(operator: LogicalExpression['operator'], left: Value, right: Value): Value {
  if (operator === '??') return left ?? right;
  return operator === 'and' ? truth(left, 'and') && truth(right, 'and') : truth(left, 'or') || truth(right, 'or');
}

function sliceEvaluation(object: PlanExpression, from: PlanExpression | null, to: PlanExpression | null): (() => Value) | undefined {
  const bounds = [from, to].filter((bound) => bound !== null);
  return withConstants([object, ...bounds], ([container, ...values]) => {
    const start = from ? values[0] : undefined;
    const end = to ? values[from ? 1 : 0] : undefined;
    return operations.slice(container ?? null, start, end);
  });
}

function templateEvaluation(parts: readonly (string | PlanExpression)[]): (() => Value) | undefined {
  const expressions = parts.filter((part) => typeof part !== 'string');
  return withConstants(expressions, (values) => {
    let at = 0;
    return parts.map((part) => (typeof part === 'string' ? part : toText(values[at++] ?? null))).join('');
  });
}

function rangeEvaluation({ from, to, inclusive }: RangeExpression): (() => Value) | undefined {
  return withConstants([from, to], ([start, end]) => operations.range(start ?? null, end ?? null, inclusive));
}

/** Would not be kept, so it is not made. */
function isLongRange({ from, to }: RangeExpression): boolean {
  return from.kind === 'constant' && to.kind === 'constant' && Number(to.value) - Number(from.value) > ITEMS_MAX;
}

/** The size of a value without what is in its items. */
function itemsOf(value: Value): number {
  if (typeof value === 'string') return Math.ceil(value.length / CHARACTERS_PER_ITEM);
  if (isArray(value)) return value.length;
  return isMap(value) ? value.size : 1;
}

/** Whether all that is in a value, counted as often as it is reached, is little. */
function isSmall(value: Value): boolean {
  const open: Value[] = [value];
  let [items, characters] = [0, 0];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') characters += next.length;
    else if (isArray(next) || isMap(next)) {
      items += isArray(next) ? next.length : next.size;
      if (items > ITEMS_MAX) return false;
      for (const inner of next.values()) open.push(inner);
    }
    if (characters > CHARACTERS_MAX) return false;
  }
  return true;
}
