import { Duration, isArray, Timestamp, type Value, type ValueArray } from './value.ts';
import { enterNested, newVisits, type Visits } from './value-limits.ts';

/**
 * The form in which state keeps a value: only null, bools, numbers, strings and arrays, so that it survives JSON, and with
 * a tag before everything else, so that a time comes back as a time. `decodeValue(encodeValue(v))` equals `v`.
 * @throws EvaluationError when the value is too deep or too large.
 */
export function encodeValue(value: Value): Value {
  return encode(value, 0, undefined);
}

function encode(value: Value, depth: number, visits: Visits | undefined): Value {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Timestamp) return ['t', value.ms];
  if (value instanceof Duration) return ['d', value.ms];
  const walked = visits ?? newVisits();
  if (isArray(value)) {
    enterNested(value.length, depth, walked);
    return ['a', ...value.map((item) => encode(item, depth + 1, walked))];
  }
  enterNested(value.size, depth, walked);
  return ['m', ...[...value].flatMap(([key, item]) => [key, encode(item, depth + 1, walked)])];
}

/** The value that `encodeValue` was given. */
export function decodeValue(stored: Value): Value {
  if (!isArray(stored)) return stored;
  switch (stored[0]) {
    case 't':
      return new Timestamp(Number(stored[1]));
    case 'd':
      return new Duration(Number(stored[1]));
    case 'a':
      return stored.slice(1).map(decodeValue);
    default:
      return decodeMap(stored);
  }
}

function decodeMap(stored: ValueArray): Value {
  const map = new Map<string, Value>();
  for (let index = 1; index < stored.length; index += 2) map.set(String(stored[index]), decodeValue(stored[index + 1] ?? null));
  return map;
}
