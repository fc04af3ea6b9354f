interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
}

/**
 * What the last `kept` calls of `set` have set, by key, without what was deleted since. In constant time, where a map that forgets its oldest
 * key each time steps over all that it has forgotten.
 */
export class Recent<K, V> {
  readonly #kept: number;
  readonly #byKey = new Map<K, Entry<K, V>>();
  /** Of the last calls; `#oldest` is the place that is overwritten next. */
  readonly #entries: Entry<K, V>[] = [];
  #oldest = 0;

  constructor(kept: number) {
    this.#kept = kept;
  }

  get(key: K): V | undefined {
    return this.#byKey.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#byKey.has(key);
  }

  set(key: K, value: V): void {
    const forgotten = this.#entries[this.#oldest];
    // Its key may have been set again, or deleted.
    if (forgotten !== undefined && this.#byKey.get(forgotten.key) === forgotten) this.#byKey.delete(forgotten.key);
    const entry = { key, value };
    this.#byKey.set(key, entry);
    this.#entries[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % this.#kept;
  }

  delete(key: K): void {
    this.#byKey.delete(key);
  }

  keys(): IterableIterator<K> {
    return this.#byKey.keys();
  }
}
