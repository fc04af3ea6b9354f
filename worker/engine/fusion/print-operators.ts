import type { BinaryExpression } from '../../../shared/language/plan/plan.ts';
import { boxed, lazily, NULL_TYPED, type Typed } from './typed.ts';
import type { TypedContext } from './typed-context.ts';

type Operator = BinaryExpression['operator'];

/** The library's function for each strict operator of two sides. */
const binaryNames: { readonly [K in Operator]: string } = {
  '==': 'equal',
  '!=': 'notEqual',
  '<': 'less',
  '<=': 'lessOrEqual',
  '>': 'greater',
  '>=': 'greaterOrEqual',
  in: 'isIn',
  'not in': 'isNotIn',
  '|': 'bitOr',
  '^': 'bitXor',
  '&': 'bitAnd',
  '<<': 'shiftLeft',
  '>>': 'shiftRight',
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
  '**': 'power',
};

const comparisons: ReadonlySet<Operator> = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in']);

const signs: Partial<Record<Operator, string>> = { '==': '===', '!=': '!==', '<': '<', '<=': '<=', '>': '>', '>=': '>=' };

/** A comparison; undefined for an operator that is none. A side that is null makes it null. */
export function printComparison(operator: Operator, left: Typed, right: Typed, { body }: TypedContext): Typed | undefined {
  if (!comparisons.has(operator)) return undefined;
  const canFail = left.canFail || right.canFail;
  if ((left.isNull || right.isNull) && !canFail) return { ...NULL_TYPED, as: 'boolean' };
  const sign = signs[operator];
  if (sign === undefined || !isNative(operator, left, right) || isHalfEvaluated(left, right))
    return called(operator, left, right, 'boolean');
  return lazily({ as: 'boolean', isNullable: left.isNullable || right.isNullable, isSimple: false, canFail }, () => {
    const { nulls, x, y } = operands(left, right, body);
    return nulls === '' ? `(${x}${sign}${y})` : `(${nulls}?null:${x}${sign}${y})`;
  });
}

/** Both sides of a strict operator are evaluated: one that may fail must not be skipped because the other is null. */
function isHalfEvaluated(left: Typed, right: Typed): boolean {
  return (left.canFail && right.isNullable) || (right.canFail && left.isNullable);
}

/** The text that finds a null among two operands, and their texts behind it. */
function operands(
  left: Typed,
  right: Typed,
  body: TypedContext['body'],
): { readonly nulls: string; readonly x: string; readonly y: string } {
  const [a, b] = [once(left, body), once(right, body)];
  const nulls = [left.isNullable ? `${a.first}===null` : '', right.isNullable ? `${b.first}===null` : ''];
  return { nulls: nulls.filter((text) => text !== '').join('||'), x: a.again, y: b.again };
}

/** Whether JavaScript's own comparison of what stands there is the language's. */
function isNative(operator: Operator, left: Typed, right: Typed): boolean {
  if (left.as !== right.as) return false;
  if (operator === '==' || operator === '!=') return left.as !== 'value';
  return left.as === 'number' || left.as === 'timestamp' || left.as === 'duration' || left.as === 'boolean';
}

/** Arithmetic. Of two numbers it is JavaScript's own, with null for what is not finite and no sign of zero. */
export function printArithmetic(operator: Operator, left: Typed, right: Typed, { body }: TypedContext): Typed {
  const isNumeric = left.as === 'number' && right.as === 'number';
  const isNative = isNumeric && nativeArithmetic.has(operator) && !isHalfEvaluated(left, right);
  if (!isNative) return called(operator, left, right, isNumeric ? 'number' : 'value');
  return lazily({ as: 'number', isNullable: true, isSimple: false, canFail: left.canFail || right.canFail }, () => {
    const { nulls, x, y } = operands(left, right, body);
    const value = body.temporary();
    const result = `((${value}=${x}${operator}${y})-${value}===0?${value}+0:null)`;
    return nulls === '' ? result : `(${nulls}?null:${result})`;
  });
}

const nativeArithmetic: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%']);

/** Where nothing is known of the sides. */
export function printCalled(operator: Operator, left: Typed, right: Typed): Typed {
  return called(operator, left, right, comparisons.has(operator) ? 'boolean' : 'value');
}

/** The engine's own function, for what JavaScript does otherwise. */
function called(operator: Operator, left: Typed, right: Typed, as: Typed['as']): Typed {
  const form = { as, isNullable: true, isSimple: false, canFail: true };
  return lazily(form, () => `${binaryNames[operator]}(${boxed(left)},${boxed(right)})`);
}

/** Text for the first place where a value stands and for those behind it. */
function once(value: Typed, body: TypedContext['body']): { readonly first: string; readonly again: string } {
  if (value.isSimple || !value.isNullable) return { first: value.text, again: value.text };
  const name = body.temporary();
  return { first: `(${name}=${value.text})`, again: name };
}
