interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
  /** The number of its call. */
  readonly at: number;
  size: number;
}

/**
 * What the last `kept` calls of `set` have set, by key, without what was deleted since; where it is larger than `sizeMax` together, the newest of it,
 * one in any case. In constant time, where a map that forgets its oldest key each time steps over all that it has forgotten.
 */
export class Recent<K, V> {
  readonly #kept: number;
  readonly #sizeMax: number;
  readonly #byKey = new Map<K, Entry<K, V>>();
  /** Of the last calls, each at its number modulo `kept`, without what is kept no more. */
  readonly #entries: (Entry<K, V> | undefined)[] = [];
  #first = 0;
  #next = 0;
  #size = 0;

  constructor(kept: number, sizeMax = Number.POSITIVE_INFINITY) {
    this.#kept = kept;
    this.#sizeMax = sizeMax;
  }

  get(key: K): V | undefined {
    return this.#byKey.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#byKey.has(key);
  }

  set(key: K, value: V, size = 0): void {
    this.delete(key);
    if (this.#next - this.#first >= this.#kept) this.#forgetOldest();
    const entry = { key, value, at: this.#next++, size };
    this.#byKey.set(key, entry);
    this.#entries[entry.at % this.#kept] = entry;
    this.#grow(size);
  }

  /** How large the value of a key has turned out to be. */
  resize(key: K, size: number): void {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return;
    const by = size - entry.size;
    entry.size = size;
    this.#grow(by);
  }

  delete(key: K): void {
    const entry = this.#byKey.get(key);
    if (entry !== undefined) this.#forget(entry);
  }

  keys(): IterableIterator<K> {
    return this.#byKey.keys();
  }

  #grow(by: number): void {
    this.#size += by;
    while (this.#size > this.#sizeMax && this.#byKey.size > 1) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const entry = this.#entries[this.#first++ % this.#kept];
    // Its key may have been set again, or deleted.
    if (entry !== undefined) this.#forget(entry);
  }

  #forget({ key, at, size }: Entry<K, V>): void {
    this.#byKey.delete(key);
    this.#entries[at % this.#kept] = undefined;
    this.#size -= size;
  }
}
