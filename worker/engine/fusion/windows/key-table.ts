import type { Value } from '../../../../shared/events/value.ts';
import { TextSlots } from './text-slots.ts';

type Level = Map<Value, Level | number>;

/** Slots by key. A key of several parts goes down one map for each; without parts there is one key. */
export class KeyTable {
  /** By the first part of the key. */
  readonly first: Level = new Map();
  readonly #depth: number;
  /** Where a key is one text: the slots of those that are short. */
  #texts: TextSlots | null;

  /** `texts`: the key of each slot, where keys are single texts. */
  constructor(parts: number, texts: readonly Value[] | null = null) {
    this.#depth = parts;
    this.#texts = texts && new TextSlots(texts);
  }

  /** The slot of a key of one part; -1 = none. */
  find(key: Value): number {
    if (this.#texts !== null && TextSlots.isFor(key)) return this.#texts.get(key);
    return (this.first.get(key) as number | undefined) ?? -1;
  }

  get(key: readonly Value[]): number | undefined {
    if (this.#depth === 1) {
      const slot = this.find(key[0] as Value);
      return slot < 0 ? undefined : slot;
    }
    let level: Level | undefined = this.first;
    for (let part = 0; part < this.#depth - 1; part++) level = level?.get(key[part] as Value) as Level | undefined;
    return level?.get(this.#last(key)) as number | undefined;
  }

  /** Of a key that has none. */
  set(key: readonly Value[], slot: number): void {
    const [text = null] = key;
    if (this.#texts !== null && TextSlots.isFor(text)) {
      if (!this.#texts.add(text, slot)) this.#leaveTexts(this.#texts);
      return;
    }
    let level = this.first;
    for (let part = 0; part < this.#depth - 1; part++) {
      let next = level.get(key[part] as Value) as Level | undefined;
      if (next === undefined) {
        next = new Map();
        level.set(key[part] as Value, next);
      }
      level = next;
    }
    level.set(this.#last(key), slot);
  }

  #leaveTexts(texts: TextSlots): void {
    for (const [text, slot] of texts.entries()) this.first.set(text, slot);
    this.#texts = null;
  }

  delete(key: readonly Value[]): void {
    const [text = null] = key;
    if (this.#texts !== null && TextSlots.isFor(text)) this.#texts.delete(text);
    else this.#delete(this.first, key, 0);
  }

  #delete(level: Level, key: readonly Value[], part: number): void {
    if (part >= this.#depth - 1) {
      level.delete(this.#last(key));
      return;
    }
    const next = level.get(key[part] as Value) as Level | undefined;
    if (next === undefined) return;
    this.#delete(next, key, part + 1);
    if (next.size === 0) level.delete(key[part] as Value);
  }

  #last(key: readonly Value[]): Value {
    return this.#depth === 0 ? null : (key[this.#depth - 1] as Value);
  }
}
