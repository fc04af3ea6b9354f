/**
 * The values of the language, as every package sees them.
 *
 * `int` and `float` are one numeric line of IEEE doubles, so both are a JavaScript number. A missing field and `null`
 * are the same thing, and only `null` stands for it: `undefined` never enters a value. Values are immutable by
 * convention: nobody changes an array or a map after handing it on.
 */
export type Value = null | boolean | number | string | Timestamp | Duration | ValueArray | ValueMap;

export type ValueArray = readonly Value[];

/** A map, or a record. A `Map` keeps the written order of keys and makes `__proto__` ordinary data. */
export type ValueMap = ReadonlyMap<string, Value>;

/** A point in time: epoch milliseconds, with fractions down to the microsecond. */
export class Timestamp {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

/** A length of time in milliseconds, with fractions. It may be negative. */
export class Duration {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}

/** The name `type_of` gives: integral numbers are `int`, whatever they were written as. */
export type ValueKind = 'null' | 'bool' | 'int' | 'float' | 'str' | 'timestamp' | 'duration' | 'array' | 'map';

export function kindOf(value: Value): ValueKind {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    case 'string':
      return 'str';
    default:
      if (value instanceof Timestamp) return 'timestamp';
      if (value instanceof Duration) return 'duration';
      return isArray(value) ? 'array' : 'map';
  }
}

/** `Array.isArray` that narrows a readonly array out of a `Value`. */
export function isArray(value: Value): value is ValueArray {
  return Array.isArray(value);
}

export function isMap(value: Value): value is ValueMap {
  return value instanceof Map;
}

/** A whole number that an IEEE double holds exactly, the range of the language's integers. */
export function isSafeInteger(value: Value): value is number {
  return Number.isSafeInteger(value);
}
