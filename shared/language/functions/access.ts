import { makeItems, makeText } from '../../events/making.ts';
import { isArray, isMap, kindOf, type Value } from '../../events/value.ts';
import { codePointCount, codePointSlice } from './code-points.ts';
import { equal } from './comparison.ts';
import { EvaluationError } from './descriptor.ts';

/** `needle in hay`: an array's item, a map's key, a part of a string. Null when either is null. */
export function isIn(needle: Value, hay: Value): boolean | null {
  if (needle === null || hay === null) return null;
  if (isArray(hay)) return hay.some((item) => equal(item, needle) === true);
  if (isMap(hay)) return typeof needle === 'string' && hay.has(needle);
  if (typeof hay === 'string' && typeof needle === 'string') return hay.includes(needle);
  throw new EvaluationError(`cannot look for ${kindOf(needle)} in ${kindOf(hay)}`);
}

/** `container[key]`: from the end when negative, by code point in a string; null when there is nothing. */
export function index(container: Value, key: Value): Value {
  if (container === null || key === null) return null;
  if (isMap(container) && typeof key === 'string') return container.get(key) ?? null;
  if (isArray(container) && isInteger(key)) return container[key < 0 ? key + container.length : key] ?? null;
  if (typeof container === 'string' && isInteger(key)) return codePoint(container, key);
  throw new EvaluationError(`cannot index ${kindOf(container)} by ${kindOf(key)}`);
}

/** `record.name`: null of null, and where there is no such field. */
export function field(record: Value, name: string): Value {
  if (record === null) return null;
  if (isMap(record)) return record.get(name) ?? null;
  throw new EvaluationError(`cannot read field ${name} of ${kindOf(record)}`);
}

/**
 * `container[start:end]` of a string or an array, without the end. A bound left out is undefined; one beyond an end of
 * the container is that end; a negative one counts from the end. A bound that is null makes the result null.
 */
export function slice(container: Value, start: Value | undefined, end: Value | undefined): Value {
  if (container === null || start === null || end === null) return null;
  if (typeof container !== 'string' && !isArray(container)) throw new EvaluationError(`cannot slice ${kindOf(container)}`);
  const length = typeof container === 'string' ? codePointCount(container) : container.length;
  const from = bound(start ?? 0, length);
  const to = bound(end ?? length, length);
  const size = Math.max(0, to - from);
  if (typeof container === 'string') {
    makeText(size);
    return codePointSlice(container, from, from + size);
  }
  makeItems(size);
  return container.slice(from, from + size);
}

/**
 * `a..b` without b, or `a..=b` with it, as an array; empty when b is before a.
 * @throws EvaluationError when a bound is no int or the array would be too long.
 */
export function range(start: Value, end: Value, inclusive: boolean): Value {
  if (start === null || end === null) return null;
  if (!isInteger(start) || !isInteger(end)) throw new EvaluationError(`cannot make a range of ${kindOf(start)} and ${kindOf(end)}`);
  const length = Math.max(0, end - start + (inclusive ? 1 : 0));
  makeItems(length);
  return Array.from({ length }, (_, step) => start + step);
}

function isInteger(value: Value): value is number {
  return Number.isInteger(value);
}

function codePoint(text: string, key: number): Value {
  const length = codePointCount(text);
  const at = key < 0 ? key + length : key;
  return at >= 0 && at < length ? codePointSlice(text, at, at + 1) : null;
}

function bound(value: Value, length: number): number {
  if (!isInteger(value)) throw new EvaluationError(`cannot slice by ${kindOf(value)}`);
  return Math.min(length, Math.max(0, value < 0 ? value + length : value));
}
