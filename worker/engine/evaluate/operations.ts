import type { Value } from '../../../shared/events/value.ts';
import * as arithmetic from '../../../shared/language/functions/arithmetic.ts';
import { truth } from '../../../shared/language/functions/truth.ts';
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

function isNotIn(needle: Value, hay: Value): boolean | null {
  const found = arithmetic.isIn(needle, hay);
  return found === null ? null : !found;
}
