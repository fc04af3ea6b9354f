import { Duration, isArray, isMap, Timestamp, type Value, type ValueArray, type ValueMap } from './value.ts';
import { enterNested, newVisits, type Visits } from './value-limits.ts';

/** Orders two strings by code point, as the language does. JavaScript's own `<` orders surrogate pairs before U+E000. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  const pairStart = at > 0 && isHighSurrogate(a.charCodeAt(at - 1)) ? at - 1 : at;
  return codePoint(a, pairStart) - codePoint(b, pairStart) || codePoint(a, at) - codePoint(b, at);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function codePoint(text: string, at: number): number {
  return text.codePointAt(at) ?? 0;
}

/**
 * The order of two values of one kind: negative, 0 or positive. `false` is before `true`. Undefined for values of
 * different kinds, for arrays and maps, and for null: they have no order.
 */
export function compareValues(a: Value, b: Value): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return compareNumbers(a.ms, b.ms);
  if (a instanceof Duration && b instanceof Duration) return compareNumbers(a.ms, b.ms);
  return undefined;
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Whether two values are the same: numbers by value, times and durations by milliseconds, arrays item by item, maps by
 * their keys in any order. Values of different kinds never are. Nulls within an array or a map equal each other.
 * @throws EvaluationError when the values are too deep or too large to be compared.
 */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  return equalObjects(a, b, 0, newVisits());
}

function equalNested(a: Value | undefined, b: Value | undefined, depth: number, visits: Visits): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  return equalObjects(a, b, depth, visits);
}

function equalObjects(a: Value, b: Value, depth: number, visits: Visits): boolean {
  if (isArray(a)) return isArray(b) && equalArrays(a, b, depth, visits);
  if (isMap(a)) return isMap(b) && equalMaps(a, b, depth, visits);
  if (a instanceof Timestamp) return b instanceof Timestamp && a.ms === b.ms;
  return a instanceof Duration && b instanceof Duration && a.ms === b.ms;
}

function equalArrays(a: ValueArray, b: ValueArray, depth: number, visits: Visits): boolean {
  if (a.length !== b.length) return false;
  enterNested(a.length, depth, visits);
  return a.every((item, index) => equalNested(item, b[index], depth + 1, visits));
}

function equalMaps(a: ValueMap, b: ValueMap, depth: number, visits: Visits): boolean {
  if (a.size !== b.size) return false;
  enterNested(a.size, depth, visits);
  for (const [key, item] of a) {
    if (!equalNested(item, b.get(key), depth + 1, visits)) return false;
  }
  return true;
}

/**
 * A text that stands for these values as a key: equal lists of values have the same text, different ones different
 * texts. `7` and `7.0` are one number, and so are `0` and `-0`; otherwise kinds never meet (`"5"` is not `5`, and `5ms`
 * is not `5`).
 * @throws EvaluationError when a value is too deep or too large to be a key.
 */
export function keyOf(values: readonly Value[]): string {
  if (values.length === 1) {
    const only = values[0] ?? null;
    return typeof only === 'string' ? `s${only}` : keyPart(only, 0, undefined);
  }
  let key = `${values.length}(`;
  for (const value of values) key += keyPart(value, 0, undefined);
  return key;
}

/** Each part says where it ends, so that parts written one behind the other read in one way only. */
function keyPart(value: Value, depth: number, visits: Visits | undefined): string {
  switch (typeof value) {
    case 'string':
      return `s${value.length}:${value}`;
    case 'number':
      return `n${value};`;
    case 'boolean':
      return value ? 'T' : 'F';
    default:
      if (value === null) return 'N';
      if (value instanceof Timestamp) return `t${value.ms};`;
      if (value instanceof Duration) return `d${value.ms};`;
      return isArray(value) ? arrayKey(value, depth, visits ?? newVisits()) : mapKey(value, depth, visits ?? newVisits());
  }
}

function arrayKey(items: ValueArray, depth: number, visits: Visits): string {
  enterNested(items.length, depth, visits);
  let key = `a${items.length}:`;
  for (const item of items) key += keyPart(item, depth + 1, visits);
  return key;
}

function mapKey(map: ValueMap, depth: number, visits: Visits): string {
  enterNested(map.size, depth, visits);
  let key = `m${map.size}:`;
  for (const name of [...map.keys()].sort()) key += `${name.length}:${name}${keyPart(map.get(name) ?? null, depth + 1, visits)}`;
  return key;
}
