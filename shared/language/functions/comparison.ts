import { compareValues, equalValues } from '../../events/text.ts';
import { Duration, type Value } from '../../events/value.ts';

/** A duration next to a number counts as its milliseconds. */
function comparable(value: Value, other: Value): Value {
  return value instanceof Duration && typeof other === 'number' ? value.ms : value;
}

/**
 * The order of two values as `<` sees it: negative, 0, positive, or null for null and for kinds that do not order.
 * A duration compares with a number as milliseconds.
 */
function order(a: Value, b: Value): number | null {
  return compareValues(comparable(a, b), comparable(b, a)) ?? null;
}

/** `a == b`: null when either is null. The literal `null` is the caller's to look for. */
export function equal(a: Value, b: Value): boolean | null {
  if (a === null || b === null) return null;
  return a === b || equalValues(comparable(a, b), comparable(b, a));
}

/** `a != b`: null when either is null. */
export function notEqual(a: Value, b: Value): boolean | null {
  const same = equal(a, b);
  return same === null ? null : !same;
}

export function less(a: Value, b: Value): boolean | null {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  const compared = order(a, b);
  return compared === null ? null : compared < 0;
}

export function lessOrEqual(a: Value, b: Value): boolean | null {
  if (typeof a === 'number' && typeof b === 'number') return a <= b;
  const compared = order(a, b);
  return compared === null ? null : compared <= 0;
}

export function greater(a: Value, b: Value): boolean | null {
  return less(b, a);
}

export function greaterOrEqual(a: Value, b: Value): boolean | null {
  return lessOrEqual(b, a);
}
