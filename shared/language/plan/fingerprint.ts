import { Duration, Timestamp } from '../../events/value.ts';

/** What indexes in a plan stand for, by identity of meaning instead of position. */
export interface FingerprintNames {
  function(index: number): string;
  global(index: number): string;
  stream(index: number): string;
}

const POSITIONS: FingerprintNames = {
  function: (index) => `function ${index}`,
  global: (index) => `global ${index}`,
  stream: (index) => `stream ${index}`,
};

/** Where a thing stands and how it was written say nothing about what it means. */
const LEFT_OUT = new Set(['origin', 'text', 'fingerprint']);

/**
 * Identity of a piece of a plan: 26 hex digits, equal for equal meaning. Keys of objects count without their order, those of
 * maps with it. Static types are left out, since they follow from the rest.
 */
export function fingerprint(value: unknown, names: FingerprintNames = POSITIONS): string {
  const text = canonicalText(value, names);
  return hash53(text, 0x9e3779b9) + hash53(text, 0x85ebca6b);
}

/** The text that a fingerprint is made of; unlike JSON it tells all numbers, maps, durations and timestamps apart. */
function canonicalText(value: unknown, names: FingerprintNames = POSITIONS): string {
  const parts: string[] = [];
  write(value, names, parts);
  return parts.join('');
}

function write(value: unknown, names: FingerprintNames, parts: string[]): void {
  if (value === null || value === undefined) parts.push('null');
  else if (typeof value === 'string') parts.push(JSON.stringify(value));
  else if (typeof value === 'number') parts.push(Object.is(value, -0) ? '-0' : String(value));
  else if (typeof value !== 'object') parts.push(String(value));
  else if (value instanceof Duration) parts.push(`duration(${value.ms})`);
  else if (value instanceof Timestamp) parts.push(`timestamp(${value.ms})`);
  else if (Array.isArray(value)) writeList('[', value, ']', names, parts);
  else if (value instanceof Map) writeList('map(', [...value], ')', names, parts);
  else writeObject(value as Record<string, unknown>, names, parts);
}

function writeList(open: string, items: readonly unknown[], close: string, names: FingerprintNames, parts: string[]): void {
  parts.push(open);
  for (const item of items) {
    write(item, names, parts);
    parts.push(',');
  }
  parts.push(close);
}

function writeObject(node: Record<string, unknown>, names: FingerprintNames, parts: string[]): void {
  parts.push('{');
  for (const key of Object.keys(node).sort()) {
    const value = node[key];
    if (LEFT_OUT.has(key) || value === undefined || (key === 'type' && isObject(value))) continue;
    parts.push(key, ':');
    write(typeof value === 'number' ? meaningOf(key, value, names) : value, names, parts);
    parts.push(',');
  }
  parts.push('}');
}

function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object';
}

/** An index as what it refers to. */
function meaningOf(key: string, value: number, names: FingerprintNames): unknown {
  if (key === 'function') return names.function(value);
  if (key === 'global') return names.global(value);
  if (key === 'stream') return names.stream(value);
  return value;
}

/** cyrb53 cut to 52 bits: two 32-bit multiplicative hashes over UTF-16 units, mixed at the end (public domain, by bryc). As 13 hex digits. */
function hash53(text: string, seed: number): string {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (0xfffff & low).toString(16).padStart(5, '0') + (high >>> 0).toString(16).padStart(8, '0');
}
