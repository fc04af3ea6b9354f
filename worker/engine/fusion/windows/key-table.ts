import type { Value } from '../../../../shared/events/value.ts';

type Level = Map<Value, Level | number>;

/** Slots by key. A key of several parts goes down one map for each; without parts there is one key. */
export class KeyTable {
  /** By the first part of the key. */
  readonly first: Level = new Map();
  readonly #depth: number;

  constructor(parts: number) {
    this.#depth = parts;
  }

  get(key: readonly Value[]): number | undefined {
    let level: Level | undefined = this.first;
    for (let part = 0; part < this.#depth - 1; part++) level = level?.get(key[part] as Value) as Level | undefined;
    return level?.get(this.#last(key)) as number | undefined;
  }

  set(key: readonly Value[], slot: number): void {
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

  delete(key: readonly Value[]): void {
    this.#delete(this.first, key, 0);
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
