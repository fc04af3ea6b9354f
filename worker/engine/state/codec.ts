import { Duration, isArray, Timestamp, type Value, type ValueArray } from '../../../shared/events/value.ts';

/**
 * State as JSON-safe data: only null, bools, finite numbers, strings and arrays. Arrays carry a tag in front, so times,
 * durations, maps and the numbers that JSON has not come back as what they were.
 */
export function encodeState(value: Value): Value {
  if (typeof value === 'number') return isPlain(value) ? value : ['n', Object.is(value, -0) ? '-0' : String(value)];
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Timestamp) return ['t', encodeState(value.ms)];
  if (value instanceof Duration) return ['d', encodeState(value.ms)];
  const stored: Value[] = [isArray(value) ? 'a' : 'm'];
  if (isArray(value)) for (const item of value) stored.push(encodeState(item));
  else for (const [key, item] of value) stored.push(key, encodeState(item));
  return stored;
}

/** The value that `encodeState` was given. */
export function decodeState(stored: Value): Value {
  if (!isArray(stored)) return stored;
  switch (stored[0]) {
    case 'n':
      return Number(stored[1]);
    case 't':
      return new Timestamp(decodeState(stored[1] ?? null) as number);
    case 'd':
      return new Duration(decodeState(stored[1] ?? null) as number);
    case 'a':
      return stored.slice(1).map(decodeState);
    default:
      return decodeMap(stored);
  }
}

function decodeMap(stored: ValueArray): Value {
  const map = new Map<string, Value>();
  for (let at = 1; at < stored.length; at += 2) map.set(stored[at] as string, decodeState(stored[at + 1] ?? null));
  return map;
}

function isPlain(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0);
}
