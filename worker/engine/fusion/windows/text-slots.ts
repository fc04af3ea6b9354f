import type { Value } from '../../../../shared/events/value.ts';

/** Longer texts are not kept here: to read all of them again would cost more than a table that knows their hashes. */
const LENGTH_MAX = 24;
const BITS_MIN = 10;
/** Texts that are made to meet (or an unlucky set of them) are left to a table that cannot be led astray. */
const STEPS_MAX = 64;
const MULTIPLIER = 0x9e3779b1;

/** Slots by short texts, in an open table of numbers: two for each entry, the hash and the slot + 1 (0 = none). */
export class TextSlots {
  /** The text of each slot. */
  readonly #texts: readonly Value[];
  #bits = BITS_MIN;
  #entries = new Int32Array(2 << BITS_MIN);
  #size = 0;

  constructor(texts: readonly Value[]) {
    this.#texts = texts;
  }

  static isFor(key: Value): key is string {
    return typeof key === 'string' && key.length <= LENGTH_MAX;
  }

  /** -1 = none. */
  get(text: string): number {
    const hash = hashOf(text);
    const entries = this.#entries;
    const last = entries.length - 2;
    for (let at = (hash >>> (32 - this.#bits)) << 1; ; at = (at + 2) & last) {
      const slot = (entries[at + 1] as number) - 1;
      if (slot < 0 || (entries[at] === hash && this.#texts[slot] === text)) return slot;
    }
  }

  /** The text is not there yet, and is that of the slot. False when it is too far from where it belongs: the table is of no use then. */
  add(text: string, slot: number): boolean {
    if (++this.#size * 2 > 1 << this.#bits) this.#grow();
    return this.#put(hashOf(text), slot + 1) <= STEPS_MAX;
  }

  #put(hash: number, entry: number): number {
    const entries = this.#entries;
    const last = entries.length - 2;
    let at = (hash >>> (32 - this.#bits)) << 1;
    let steps = 0;
    for (; entries[at + 1] !== 0; at = (at + 2) & last) steps++;
    entries[at] = hash;
    entries[at + 1] = entry;
    return steps;
  }

  #grow(): void {
    const before = this.#entries;
    this.#bits++;
    this.#entries = new Int32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 2) if (before[at + 1] !== 0) this.#put(before[at] as number, before[at + 1] as number);
  }

  /** What stands behind the entry moves up as far as it belongs. */
  delete(text: string): void {
    const slot = this.get(text);
    if (slot < 0) return;
    this.#size--;
    const entries = this.#entries;
    const last = entries.length - 2;
    let gap = (hashOf(text) >>> (32 - this.#bits)) << 1;
    while (entries[gap + 1] !== slot + 1) gap = (gap + 2) & last;
    for (let at = (gap + 2) & last; entries[at + 1] !== 0; at = (at + 2) & last) {
      const home = ((entries[at] as number) >>> (32 - this.#bits)) << 1;
      if (((at - home) & last) < ((at - gap) & last)) continue;
      entries[gap] = entries[at] as number;
      entries[gap + 1] = entries[at + 1] as number;
      gap = at;
    }
    entries[gap + 1] = 0;
  }

  *entries(): Iterable<readonly [text: Value, slot: number]> {
    const entries = this.#entries;
    for (let at = 1; at < entries.length; at += 2) {
      const slot = (entries[at] as number) - 1;
      if (slot >= 0) yield [this.#texts[slot] as Value, slot];
    }
  }
}

/** For tests: what decides where a text belongs. */
export function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), MULTIPLIER);
  return hash;
}
