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
  if (typeof value === 'number') return isPlain(value) ? value : { n: nameOf(value) };
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

/** What is no value as `encodeValue` gives it. */
export class NotStored extends Error {
  override readonly message = 'found something that is no value as a snapshot holds it';
}

/** Nesting of stored values: what a value may have, and what an engine puts around it. */
const STORED_DEPTH_MAX = 200;

/** The value that `encodeValue` was given. @throws NotStored of anything else */
export function decodeValue(stored: unknown, depth = 0): Value {
  if (typeof stored === 'number' && Number.isFinite(stored)) return stored;
  if (stored === null || typeof stored === 'string' || typeof stored === 'boolean') return stored;
  if (typeof stored !== 'object' || depth > STORED_DEPTH_MAX) throw new NotStored();
  if (Array.isArray(stored)) {
    const items: Value[] = new Array(stored.length);
    for (let at = 0; at < items.length; at++) items[at] = decodeValue(stored[at], depth + 1);
    return items;
  }
  const { m, t, d, n } = stored as Readonly<Record<string, unknown>>;
  if (Array.isArray(m) && m.length % 2 === 0) return decodeMap(m, depth);
  if (t !== undefined) return new Timestamp(decodeNumber(t, depth));
  if (d !== undefined) return new Duration(decodeNumber(d, depth));
  const number = otherNumbers.get(n);
  if (number === undefined) throw new NotStored();
  return number;
}

const otherNumbers: ReadonlyMap<unknown, number> = new Map([-0, Number.NaN, Infinity, -Infinity].map((one) => [nameOf(one), one]));

function decodeNumber(stored: unknown, depth: number): number {
  const number = decodeValue(stored, depth + 1);
  if (typeof number !== 'number') throw new NotStored();
  return number;
}

function decodeMap(items: readonly unknown[], depth: number): Value {
  const map = new Map<string, Value>();
  for (let at = 0; at < items.length; at += 2) {
    const name = items[at];
    if (typeof name !== 'string') throw new NotStored();
    map.set(name, decodeValue(items[at + 1], depth + 1));
  }
  return map;
}

function nameOf(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number);
}

function isPlain(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0);
}
