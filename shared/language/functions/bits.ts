import { kindOf, type Value } from '../../events/value.ts';
import { EvaluationError } from './descriptor.ts';

/**
 * Bit operators on 53-bit integers in two's complement. JavaScript's own work on 32 bits and would lose the rest, so a
 * number is taken apart into a signed upper half and 32 lower bits. An operand or a result that is no safe integer is null.
 */

const LOW = 2 ** 32;

export function bitAnd(a: Value, b: Value): Value {
  return bitwise('&', a, b, (x, y) => x & y);
}

export function bitOr(a: Value, b: Value): Value {
  return bitwise('|', a, b, (x, y) => x | y);
}

export function bitXor(a: Value, b: Value): Value {
  return bitwise('^', a, b, (x, y) => x ^ y);
}

export function bitNot(a: Value): Value {
  if (a === null) return null;
  if (typeof a !== 'number') throw new EvaluationError(`cannot apply ~ to ${kindOf(a)}`);
  return Number.isSafeInteger(a) ? safe(-a - 1) : null;
}

/** `a << n`: null for a negative n, and when bits would be lost. */
export function shiftLeft(a: Value, b: Value): Value {
  const operands = integers('<<', a, b);
  if (operands === null || operands[1] < 0) return null;
  return operands[0] === 0 ? 0 : safe(operands[0] * 2 ** operands[1]);
}

/** `a >> n`: keeps the sign; null for a negative n. */
export function shiftRight(a: Value, b: Value): Value {
  const operands = integers('>>', a, b);
  if (operands === null || operands[1] < 0) return null;
  const [value, distance] = operands;
  if (distance > 53) return value < 0 ? -1 : 0;
  return Math.floor(value / 2 ** distance);
}

function bitwise(operator: string, a: Value, b: Value, combine: (x: number, y: number) => number): Value {
  const operands = integers(operator, a, b);
  if (operands === null) return null;
  const [left, right] = operands;
  const leftHigh = Math.floor(left / LOW);
  const rightHigh = Math.floor(right / LOW);
  const low = combine(left - leftHigh * LOW, right - rightHigh * LOW) >>> 0;
  return safe(combine(leftHigh, rightHigh) * LOW + low);
}

function integers(operator: string, a: Value, b: Value): readonly [number, number] | null {
  if (a === null || b === null) return null;
  if (typeof a !== 'number' || typeof b !== 'number') {
    throw new EvaluationError(`cannot apply ${operator} to ${kindOf(a)} and ${kindOf(b)}`);
  }
  return Number.isSafeInteger(a) && Number.isSafeInteger(b) ? [a, b] : null;
}

function safe(value: number): number | null {
  return Number.isSafeInteger(value) ? value + 0 : null;
}
