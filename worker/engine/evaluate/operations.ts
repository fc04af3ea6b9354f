import { kindOf, type Value } from '../../../shared/events/value.ts';
import * as arithmetic from '../../../shared/language/functions/arithmetic.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { BinaryExpression, UnaryExpression } from '../../../shared/language/plan/plan.ts';

/** What every strict operator of two sides does. */
export const binaryOperations: { readonly [K in BinaryExpression['operator']]: (left: Value, right: Value) => Value } = {
  '==': arithmetic.equal,
  '!=': arithmetic.notEqual,
  '<': arithmetic.less,
  '<=': arithmetic.lessOrEqual,
  '>': arithmetic.greater,
  '>=': arithmetic.greaterOrEqual,
  in: arithmetic.isIn,
  'not in': isNotIn,
  '|': arithmetic.bitOr,
  '^': arithmetic.bitXor,
  '&': arithmetic.bitAnd,
  '<<': arithmetic.shiftLeft,
  '>>': arithmetic.shiftRight,
  '+': arithmetic.add,
  '-': arithmetic.subtract,
  '*': arithmetic.multiply,
  '/': arithmetic.divide,
  '%': arithmetic.modulo,
  '**': arithmetic.power,
};

export const unaryOperations: { readonly [K in UnaryExpression['operator']]: (operand: Value) => Value } = {
  '-': arithmetic.negate,
  '~': arithmetic.bitNot,
  not: (operand) => !truth(operand, 'not'),
};

/** What `and`, `or` and `not` make of an operand: null is false. @throws EvaluationError for what is no bool. */
export function truth(value: Value, operator: 'and' | 'or' | 'not'): boolean {
  if (value === true) return true;
  if (value === false || value === null) return false;
  throw new EvaluationError(`cannot apply ${operator} to ${kindOf(value)}`);
}

/** Whether a condition holds: null is false. @throws EvaluationError for what is no bool. */
export function holds(value: Value): boolean {
  if (value === true) return true;
  if (value === false || value === null) return false;
  throw new EvaluationError(`a condition is a bool, not ${kindOf(value)}`);
}

function isNotIn(needle: Value, hay: Value): boolean | null {
  const found = arithmetic.isIn(needle, hay);
  return found === null ? null : !found;
}
