import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Value } from '../../../../../shared/events/value.ts';
import { KeyTable } from '../../../../../worker/engine/fusion/windows/key-table.ts';
import { hashOf } from '../../../../../worker/engine/fusion/windows/text-slots.ts';

/** A table of single keys beside a map that says the same. */
class Tried {
  readonly #keys: Value[] = [];
  readonly #table = new KeyTable(1, this.#keys);
  readonly #expected = new Map<Value, number>();

  add(key: Value): void {
    if (this.#expected.has(key)) return;
    const slot = this.#keys.push(key) - 1;
    this.#table.set([key], slot);
    this.#expected.set(key, slot);
  }

  delete(key: Value): void {
    this.#table.delete([key]);
    this.#expected.delete(key);
  }

  check(keys: Iterable<Value>): void {
    for (const key of keys) {
      expect(this.#table.find(key), String(key)).toBe(this.#expected.get(key) ?? -1);
      expect(this.#table.get([key])).toBe(this.#expected.get(key));
    }
  }
}

/** Texts that all belong to one place of the table. */
function colliding(count: number): string[] {
  const multiplier = 0x9e3779b1;
  let inverse = multiplier;
  for (let step = 0; step < 5; step++) inverse = Math.imul(inverse, 2 - Math.imul(multiplier, inverse));
  const byHighBits = new Map<number, [char: number, state: number]>();
  for (let char = 0; char < 65_536; char++) {
    const state = Math.imul(2 ^ char, multiplier);
    byHighBits.set(state >>> 16, [char, state]);
  }
  const texts: string[] = [];
  for (let hash = 0; texts.length < count; hash++) {
    const wanted = Math.imul(hash, inverse);
    const found = byHighBits.get(wanted >>> 16);
    if (found !== undefined) texts.push(String.fromCharCode(found[0], (wanted ^ found[1]) & 0xffff));
  }
  return texts;
}

test('a table of keys finds what it was given, whatever came and went', () => {
  const short = fc.nat(400).map((at) => `key-${at}`);
  const key = fc.oneof({ weight: 8, arbitrary: short }, fc.constantFrom<Value>(null, 'x'.repeat(24), 'x'.repeat(25), '', 'y'.repeat(300)));
  const steps = fc.array(fc.record({ key, isAdded: fc.boolean() }), { maxLength: 600, size: 'max' });
  fc.assert(
    fc.property(steps, (list) => {
      const tried = new Tried();
      for (const step of list) step.isAdded ? tried.add(step.key) : tried.delete(step.key);
      tried.check(new Set(list.map((step) => step.key)));
    }),
    { numRuns: 60 },
  );
});

test('a table of keys grows', () => {
  const tried = new Tried();
  const keys = Array.from({ length: 5_000 }, (_, at) => `device ${at}`);
  keys.forEach((one) => void tried.add(one));
  keys.filter((_, at) => at % 3 === 0).forEach((one) => void tried.delete(one));
  tried.check(keys);
});

test('keys that meet in a place are found, and when too many do, elsewhere', () => {
  const keys = colliding(120);
  expect(new Set(keys.map((one) => hashOf(one) >>> 16))).toEqual(new Set([0]));
  const tried = new Tried();
  for (const [at, one] of keys.entries()) {
    tried.add(one);
    if (at % 5 === 0) tried.delete(one);
    tried.check(keys.slice(0, at + 1));
  }
});
