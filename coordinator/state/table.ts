interface Chunk<V> {
  readonly keys: readonly string[];
  readonly values: readonly V[];
}

/** One that is still being made. */
interface OwnChunk<V> extends Chunk<V> {
  readonly keys: string[];
  readonly values: V[];
}

const CHUNK_MAX = 64;

/**
 * Values by key, in the order of the keys' code units, that never change: `set` and `delete` give another table, which shares nearly
 * everything with this one. So a table is its own snapshot, however long that takes to be written, and keeping one costs nothing.
 */
export class Table<V> {
  readonly size: number;
  /** Sorted, none empty. */
  readonly #chunks: readonly Chunk<V>[];

  private constructor(chunks: readonly Chunk<V>[], size: number) {
    this.#chunks = chunks;
    this.size = size;
  }

  static empty<V>(): Table<V> {
    return new Table<V>([], 0);
  }

  get(key: string): V | undefined {
    const chunk = this.#chunks[chunkOf(this.#chunks, key)];
    if (chunk === undefined) return undefined;
    const at = placeOf(chunk.keys, key);
    return chunk.keys[at] === key ? chunk.values[at] : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): Table<V> {
    const index = chunkOf(this.#chunks, key);
    const chunk = this.#chunks[index];
    const at = chunk === undefined ? 0 : placeOf(chunk.keys, key);
    if (chunk === undefined || chunk.keys[at] !== key) return this.setAll([[key, value]]);
    const changed = { keys: chunk.keys, values: chunk.values.with(at, value) };
    return new Table(this.#chunks.with(index, changed), this.size);
  }

  /** As `set` with each, in their order. Many that stand together cost little more than one. */
  setAll(entries: Iterable<readonly [key: string, value: V]>): Table<V> {
    const chunks = [...this.#chunks];
    /** Of `chunks`, those that no other table has. */
    const own = new Set<Chunk<V>>();
    let { size } = this;
    for (const [key, value] of entries) {
      const index = chunkOf(chunks, key);
      const chunk = chunks[index] ?? { keys: [], values: [] };
      const at = placeOf(chunk.keys, key);
      const isNew = chunk.keys[at] !== key;
      const { keys, values } = own.has(chunk) ? (chunk as OwnChunk<V>) : { keys: [...chunk.keys], values: [...chunk.values] };
      if (isNew) keys.splice(at, 0, key);
      values.splice(at, isNew ? 0 : 1, value);
      if (isNew) size++;
      // What is only ever added at the end leaves full chunks behind, which are half as many.
      const isAtEnd = at === keys.length - 1 && index >= chunks.length - 1;
      const parts = divided({ keys, values }, isAtEnd);
      chunks.splice(index, 1, ...parts);
      own.delete(chunk);
      for (const part of parts) own.add(part);
    }
    return new Table(chunks, size);
  }

  delete(key: string): Table<V> {
    const index = chunkOf(this.#chunks, key);
    const chunk = this.#chunks[index];
    const at = chunk === undefined ? 0 : placeOf(chunk.keys, key);
    if (chunk === undefined || chunk.keys[at] !== key) return this;
    const rest = { keys: chunk.keys.toSpliced(at, 1), values: chunk.values.toSpliced(at, 1) };
    return new Table(this.#chunks.toSpliced(index, 1, ...(rest.keys.length === 0 ? [] : [rest])), this.size - 1);
  }

  /** The values under the keys from the first to the last, both included, in their order. */
  *between(first: string, last: string): Generator<V> {
    for (let index = chunkOf(this.#chunks, first); index < this.#chunks.length; index++) {
      const { keys, values } = this.#chunks[index] as Chunk<V>;
      for (let at = placeOf(keys, first); at < keys.length; at++) {
        if ((keys[at] as string) > last) return;
        yield values[at] as V;
      }
    }
  }

  /** Without what `between` gives: costs as much for many as for one. */
  without(first: string, last: string): Table<V> {
    const rest: Chunk<V>[] = [];
    let { size } = this;
    for (const chunk of this.#chunks) {
      const { keys, values } = chunk;
      const from = placeOf(keys, first);
      const end = placeOf(keys, last);
      const through = keys[end] === last ? end + 1 : end;
      if (through <= from) {
        rest.push(chunk);
        continue;
      }
      size -= through - from;
      const left = { keys: keys.toSpliced(from, through - from), values: values.toSpliced(from, through - from) };
      if (left.keys.length > 0) rest.push(left);
    }
    return size === this.size ? this : new Table(rest, size);
  }

  *entries(): Generator<readonly [key: string, value: V]> {
    for (const { keys, values } of this.#chunks) for (let at = 0; at < keys.length; at++) yield [keys[at] as string, values[at] as V];
  }

  *values(): Generator<V> {
    for (const { values } of this.#chunks) yield* values;
  }

  /** The one with the least key. */
  first(): V | undefined {
    return this.#chunks[0]?.values[0];
  }
}

/** The chunk in which the key stands, or belongs: the last that does not begin behind it. */
function chunkOf(chunks: readonly Chunk<unknown>[], key: string): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (((chunks[middle] as Chunk<unknown>).keys[0] as string) <= key) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Where a key stands among sorted ones, or belongs. */
function placeOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function divided<V>({ keys, values }: Chunk<V>, isAtEnd: boolean): readonly Chunk<V>[] {
  if (keys.length <= CHUNK_MAX) return [{ keys, values }];
  const at = isAtEnd ? CHUNK_MAX : keys.length >>> 1;
  return [
    { keys: keys.slice(0, at), values: values.slice(0, at) },
    { keys: keys.slice(at), values: values.slice(at) },
  ];
}
