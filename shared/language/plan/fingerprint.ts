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

/** Where a thing stands and how it was written say nothing about what it means, nor does what follows from the types. */
const LEFT_OUT = new Set(['origin', 'text', 'fingerprint', 'fieldNames']);

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
  else if (typeof value === 'string') writeText(value, digest);
  else if (typeof value === 'number') digest.add(Object.is(value, -0) ? '-0' : String(value));
  else if (typeof value !== 'object') digest.add(String(value));
  else if (value instanceof Duration) digest.add(`duration(${value.ms})`);
  else if (value instanceof Timestamp) digest.add(`timestamp(${value.ms})`);
  else if (Array.isArray(value)) writeList('[', value, ']', names, digest);
  else if (value instanceof Map) writeList('map(', [...value], ')', names, digest);
  else writeObject(value as Record<string, unknown>, names, digest);
}

/** As in JSON. */
function writeText(text: string, digest: Digest): void {
  if (!isPlain(text)) {
    digest.add(JSON.stringify(text));
    return;
  }
  digest.add('"');
  digest.add(text);
  digest.add('"');
}

/** Nothing of the text is written otherwise in JSON: neither quotes and control characters nor halves of pairs, which stand beyond ASCII. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
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
  for (const { key, label } of layoutOf(node).members) {
    const value = node[key];
    if (value === undefined || (key === 'type' && isObject(value))) continue;
    digest.add(label);
    write(typeof value === 'number' ? meaningOf(key, value, names) : value, names, digest);
    digest.add(',');
  }
  digest.add('}');
}

/** The keys of a node as they stand in it, and what is written of them. */
interface Layout {
  readonly keys: readonly string[];
  /** In order of their UTF-16 units, without those that are left out. */
  readonly members: readonly { readonly key: string; readonly label: string }[];
}

/** By kind of node, how nodes of it were made: the next one is made alike, as a rule. */
const layouts = new Map<unknown, Layout[]>();
const KINDS_MAX = 300;
const LAYOUTS_MAX = 8;

function layoutOf(node: Record<string, unknown>): Layout {
  const known = layouts.get(node['kind']) ?? [];
  for (const layout of known) if (hasKeys(node, layout.keys)) return layout;
  const keys = Object.keys(node);
  const members = sorted(keys).flatMap((key) => (LEFT_OUT.has(key) ? [] : [{ key, label: `${key}:` }]));
  const layout = { keys, members };
  if (known.length < LAYOUTS_MAX && layouts.size < KINDS_MAX) layouts.set(node['kind'], [...known, layout]);
  return layout;
}

function hasKeys(node: Record<string, unknown>, keys: readonly string[]): boolean {
  let at = 0;
  for (const key in node) if (key !== keys[at++]) return false;
  return at === keys.length;
}

/** In order of their UTF-16 units. By insertion: a node has few keys. */
function sorted(given: readonly string[]): readonly string[] {
  const keys = [...given];
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
    let high = this.#high;
    let low = this.#low;
    let otherHigh = this.#otherHigh;
    let otherLow = this.#otherLow;
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
