import { Duration, isArray, Timestamp, type Value } from './value.ts';

/**
 * A value as JSON-safe data, which comes back as what it was. Null, bools, strings, arrays and finite numbers are what they are; an object with one key stands
 * for what JSON has not: times, durations, maps (keys and values in turn), and the other numbers.
 */
export type StoredValue = null | boolean | number | string | readonly StoredValue[] | StoredKind;

type StoredKind =
  | { readonly t: StoredValue }
  | { readonly d: StoredValue }
  | { readonly m: readonly StoredValue[] }
  | { readonly n: string };

/** A copy: nothing in it changes when the value does. The value is bounded (`value-limits.ts`). */
export function encodeValue(value: Value): StoredValue {
  if (typeof value === 'number') return isPlain(value) ? value : { n: Object.is(value, -0) ? '-0' : String(value) };
  if (value === null || typeof value !== 'object') return value;
  if (isArray(value)) return value.map(encodeValue);
  if (value instanceof Timestamp) return { t: encodeValue(value.ms) };
  if (value instanceof Duration) return { d: encodeValue(value.ms) };
  const items: StoredValue[] = [];
  for (const [key, item] of value) items.push(key, encodeValue(item));
  return { m: items };
}

/** `encodeValue` of what nobody changes any more: what is the same in both is shared. */
export function encodeShared(value: Value): StoredValue {
  if (!isArray(value)) return encodeValue(value);
  let stored: StoredValue[] | null = null;
  for (let at = 0; at < value.length; at++) {
    const item = value[at] as Value;
    const encoded = encodeShared(item);
    if (stored === null && encoded !== item) stored = value.slice(0, at) as StoredValue[];
    stored?.push(encoded);
  }
  return stored ?? (value as readonly StoredValue[]);
}

/** The value that `encodeValue` was given. */
export function decodeValue(stored: StoredValue): Value {
  if (stored === null || typeof stored !== 'object') return stored;
  if ('m' in stored) return decodeMap(stored.m);
  if ('t' in stored) return new Timestamp(decodeValue(stored.t) as number);
  if ('d' in stored) return new Duration(decodeValue(stored.d) as number);
  return 'n' in stored ? Number(stored.n) : stored.map(decodeValue);
}

/** Nesting of stored values: what a value may have, and what an engine puts around it. */
const STORED_DEPTH_MAX = 200;
const otherNumbers: readonly unknown[] = ['-0', 'NaN', 'Infinity', '-Infinity'];

/** Whether this is what `encodeValue` gives. */
export function isStoredValue(stored: unknown, depth = 0): stored is StoredValue {
  if (typeof stored === 'number') return Number.isFinite(stored);
  if (stored === null || typeof stored !== 'object') return stored !== undefined;
  if (depth > STORED_DEPTH_MAX) return false;
  if (Array.isArray(stored)) return stored.every((item) => isStoredValue(item, depth + 1));
  const [member, ...more] = Object.entries(stored);
  return member !== undefined && more.length === 0 && isStoredKind(member, depth);
}

function isStoredKind([kind, content]: readonly [string, unknown], depth: number): boolean {
  if (kind === 'n') return otherNumbers.includes(content);
  if (kind === 't' || kind === 'd') return isStoredValue(content, depth + 1) && typeof decodeValue(content) === 'number';
  if (kind !== 'm' || !Array.isArray(content) || content.length % 2 !== 0) return false;
  return content.every((item, at) => (at % 2 === 0 ? typeof item === 'string' : isStoredValue(item, depth + 1)));
}

function decodeMap(items: readonly StoredValue[]): Value {
  const map = new Map<string, Value>();
  for (let at = 0; at < items.length; at += 2) map.set(items[at] as string, decodeValue(items[at + 1] as StoredValue));
  return map;
}

function isPlain(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0);
}
