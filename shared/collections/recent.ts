/**
 * What was set last, by key: the last `kept` values that were set and are not deleted, and twice as many at most. In constant time, where a map that forgets its oldest key
 * each time steps over all that it has forgotten.
 */
export class Recent<K, V> {
  readonly #kept: number;
  #newer = new Map<K, V>();
  #older = new Map<K, V>();

  constructor(kept: number) {
    this.#kept = kept;
  }

  get(key: K): V | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  has(key: K): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  set(key: K, value: V): void {
    this.#older.delete(key);
    if (this.#newer.size >= this.#kept && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  delete(key: K): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }

  /** In no order. */
  *keys(): Generator<K> {
    yield* this.#older.keys();
    yield* this.#newer.keys();
  }
}
