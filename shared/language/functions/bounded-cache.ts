/** Longer keys are not kept: a few of them could hold more memory than all the rest. */
const KEY_LENGTH_MAX = 4096;

/**
 * What was computed from a key, as long as there is room; the key that went unused longest makes it. It only saves work:
 * whether something is found here changes no result.
 */
export class BoundedCache<T extends object | string | number> {
  readonly #entries = new Map<string, T>();
  readonly #entriesMax: number;
  readonly #compute: (key: string) => T;

  constructor(entriesMax: number, compute: (key: string) => T) {
    this.#entriesMax = entriesMax;
    this.#compute = compute;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T {
    if (key.length > KEY_LENGTH_MAX) return this.#compute(key);
    const value = this.#entries.get(key) ?? this.#make(key);
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  #make(key: string): T {
    const value = this.#compute(key);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= this.#entriesMax && !oldest.done) this.#entries.delete(oldest.value);
    return value;
  }
}
