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
  const digest = new Digest();
  write(value, names, digest);
  return digest.hex();
}

/** Writes the text that a fingerprint is made of; unlike JSON it tells all numbers, maps, durations and timestamps apart. */
function write(value: unknown, names: FingerprintNames, digest: Digest): void {
  if (value === null || value === undefined) digest.add('null');
  else if (typeof value === 'string') digest.add(JSON.stringify(value));
  else if (typeof value === 'number') digest.add(Object.is(value, -0) ? '-0' : String(value));
  else if (typeof value !== 'object') digest.add(String(value));
  else if (value instanceof Duration) digest.add(`duration(${value.ms})`);
  else if (value instanceof Timestamp) digest.add(`timestamp(${value.ms})`);
  else if (Array.isArray(value)) writeList('[', value, ']', names, digest);
  else if (value instanceof Map) writeList('map(', [...value], ')', names, digest);
  else writeObject(value as Record<string, unknown>, names, digest);
}

function writeList(open: string, items: readonly unknown[], close: string, names: FingerprintNames, digest: Digest): void {
  digest.add(open);
  for (const item of items) {
    write(item, names, digest);
    digest.add(',');
  }
  digest.add(close);
}

function writeObject(node: Record<string, unknown>, names: FingerprintNames, digest: Digest): void {
  digest.add('{');
  for (const key of sortedKeys(node)) {
    const value = node[key];
    if (LEFT_OUT.has(key) || value === undefined || (key === 'type' && isObject(value))) continue;
    digest.add(key);
    digest.add(':');
    write(typeof value === 'number' ? meaningOf(key, value, names) : value, names, digest);
    digest.add(',');
  }
  digest.add('}');
}

/** In order of their UTF-16 units. By insertion: a node has few keys. */
function sortedKeys(node: Record<string, unknown>): readonly string[] {
  const keys = Object.keys(node);
  for (let at = 1; at < keys.length; at++) {
    const key = keys[at] as string;
    let to = at;
    for (; to > 0 && (keys[to - 1] as string) > key; to--) keys[to] = keys[to - 1] as string;
    keys[to] = key;
  }
  return keys;
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

/**
 * cyrb53 cut to 52 bits, from two seeds over the same text: each two 32-bit multiplicative hashes over UTF-16 units, mixed at the
 * end (public domain, by bryc).
 */
class Digest {
  #high = 0xdeadbeef ^ 0x9e3779b9;
  #low = 0x41c6ce57 ^ 0x9e3779b9;
  #otherHigh = 0xdeadbeef ^ 0x85ebca6b;
  #otherLow = 0x41c6ce57 ^ 0x85ebca6b;

  add(text: string): void {
    let [high, low, otherHigh, otherLow] = [this.#high, this.#low, this.#otherHigh, this.#otherLow];
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 2654435761);
      low = Math.imul(low ^ unit, 1597334677);
      otherHigh = Math.imul(otherHigh ^ unit, 2654435761);
      otherLow = Math.imul(otherLow ^ unit, 1597334677);
    }
    this.#high = high;
    this.#low = low;
    this.#otherHigh = otherHigh;
    this.#otherLow = otherLow;
  }

  hex(): string {
    return mixed(this.#high, this.#low) + mixed(this.#otherHigh, this.#otherLow);
  }
}

/** 13 hex digits. */
function mixed(first: number, second: number): string {
  const high = Math.imul(first ^ (first >>> 16), 2246822507) ^ Math.imul(second ^ (second >>> 13), 3266489909);
  const low = Math.imul(second ^ (second >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (0xfffff & low).toString(16).padStart(5, '0') + (high >>> 0).toString(16).padStart(8, '0');
}
