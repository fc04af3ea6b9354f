/**
 * The operators of the language on values: what the evaluator calls, and what constants are folded with. Null in gives
 * null out; kinds that an operator cannot take throw an `EvaluationError` that names them.
 */
import { roundToMicrosecond, TIMESTAMP_MS_MAX } from '../../events/calendar.ts';
import { makeText } from '../../events/making.ts';
import { Duration, kindOf, Timestamp, type Value } from '../../events/value.ts';
import { EvaluationError } from './descriptor.ts';
import { finite } from './numbers.ts';

export { field, index, isIn, range, slice } from './access.ts';
export { bitAnd, bitNot, bitOr, bitXor, shiftLeft, shiftRight } from './bits.ts';
export { equal, greater, greaterOrEqual, less, lessOrEqual, notEqual } from './comparison.ts';

/** `a + b`: numbers, two strings, durations, a timestamp and a duration. */
export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return finite(a + b);
  if (a === null || b === null) return null;
  if (typeof a === 'string' && typeof b === 'string') return joined(a, b);
  if (a instanceof Duration && b instanceof Duration) return duration(a.ms + b.ms);
  if (a instanceof Timestamp && b instanceof Duration) return timestamp(a.ms + b.ms);
  if (a instanceof Duration && b instanceof Timestamp) return timestamp(b.ms + a.ms);
  throw new EvaluationError(`cannot add ${kindOf(a)} and ${kindOf(b)}`);
}

/** `a - b`: numbers, durations, a timestamp minus a duration, and two timestamps, which give a duration. */
export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return finite(a - b);
  if (a === null || b === null) return null;
  if (a instanceof Duration && b instanceof Duration) return duration(a.ms - b.ms);
  if (a instanceof Timestamp && b instanceof Duration) return timestamp(a.ms - b.ms);
  if (a instanceof Timestamp && b instanceof Timestamp) return duration(roundToMicrosecond(a.ms - b.ms));
  throw new EvaluationError(`cannot subtract ${kindOf(b)} from ${kindOf(a)}`);
}

/** `a * b`: numbers, and a duration by a number in either order. */
export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return finite(a * b);
  if (a === null || b === null) return null;
  if (a instanceof Duration && typeof b === 'number') return duration(a.ms * b);
  if (typeof a === 'number' && b instanceof Duration) return duration(a * b.ms);
  throw new EvaluationError(`cannot multiply ${kindOf(a)} by ${kindOf(b)}`);
}

/** `a / b`: true division of numbers, a duration by a number, and two durations, which give a number. By zero it is null. */
export function divide(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return finite(a / b);
  if (a === null || b === null) return null;
  if (a instanceof Duration && typeof b === 'number') return duration(a.ms / b);
  if (a instanceof Duration && b instanceof Duration) return finite(a.ms / b.ms);
  throw new EvaluationError(`cannot divide ${kindOf(a)} by ${kindOf(b)}`);
}

/** `a % b` of two numbers or two durations, with the sign of a. By zero it is null. */
export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') return finite(a % b);
  if (a === null || b === null) return null;
  if (a instanceof Duration && b instanceof Duration) return duration(a.ms % b.ms);
  throw new EvaluationError(`cannot take ${kindOf(a)} modulo ${kindOf(b)}`);
}

/** `a ** b` of two numbers. */
export function power(a: Value, b: Value): Value {
  if (a === null || b === null) return null;
  if (typeof a === 'number' && typeof b === 'number') return finite(a ** b);
  throw new EvaluationError(`cannot raise ${kindOf(a)} to the power of ${kindOf(b)}`);
}

/** `-a` of a number or a duration. */
export function negate(a: Value): Value {
  if (a === null) return null;
  if (typeof a === 'number') return finite(-a);
  if (a instanceof Duration) return duration(-a.ms);
  throw new EvaluationError(`cannot negate ${kindOf(a)}`);
}

/** A duration of this length; null when it is not finite. */
export function duration(ms: number): Duration | null {
  const length = finite(ms);
  return length === null ? null : new Duration(length);
}

/** A point in time, rounded to the microsecond; null beyond the range of times. */
export function timestamp(ms: number): Timestamp | null {
  return Math.abs(ms) <= TIMESTAMP_MS_MAX ? new Timestamp(roundToMicrosecond(ms)) : null;
}

function joined(a: string, b: string): string {
  makeText(a.length + b.length);
  return a + b;
}
