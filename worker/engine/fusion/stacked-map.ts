/** A map whose newest keys can be taken away again. Keys are not removed otherwise. */
export class StackedMap<K, V> extends Map<K, V> {
  readonly #added: K[] = [];

  override set(key: K, value: V): this {
    if (!this.has(key)) this.#added.push(key);
    return super.set(key, value);
  }

  /** What is there now, to come back to. */
  mark(): () => void {
    const count = this.#added.length;
    return () => {
      while (this.#added.length > count) this.delete(this.#added.pop() as K);
    };
  }
}
