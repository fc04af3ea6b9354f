const HASH_START = 2166136261;
const HASH_FACTOR = 16777619;
const EMPTY = -1;

/** Byte strings as small numbers, each text made once: what a reader needs that meets the same names again and again. */
export class Names {
  readonly #texts: string[] = [];
  readonly #hashes: number[] = [];
  readonly #starts: number[] = [0];
  #bytes = Buffer.allocUnsafe(1 << 16);
  #slots = new Int32Array(1 << 10).fill(EMPTY);

  /** The number of the name that these bytes spell. Numbers count from 0 in order of appearance. */
  idOf(bytes: Uint8Array, from: number, to: number): number {
    let hash = HASH_START;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), HASH_FACTOR);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const id = this.#slots[slot] as number;
      if (id === EMPTY) return this.#add(bytes, from, to, hash);
      if (this.#hashes[id] === hash && this.#spells(id, bytes, from, to)) return id;
      slot = (slot + 1) & mask;
    }
  }

  text(id: number): string {
    return this.#texts[id] as string;
  }

  get size(): number {
    return this.#texts.length;
  }

  #spells(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts[id] as number;
    if ((this.#starts[id + 1] as number) - start !== to - from) return false;
    for (let at = from; at < to; at++) if (this.#bytes[start + at - from] !== bytes[at]) return false;
    return true;
  }

  #add(bytes: Uint8Array, from: number, to: number, hash: number): number {
    const id = this.#texts.length;
    const start = this.#starts[id] as number;
    const end = start + to - from;
    while (end > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#bytes.length)]);
    this.#bytes.set(bytes.subarray(from, to), start);
    this.#texts.push(this.#bytes.toString('utf8', start, end));
    this.#hashes.push(hash);
    this.#starts.push(end);
    if (this.#texts.length * 2 > this.#slots.length) this.#grow();
    else this.#place(id);
    return id;
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(EMPTY);
    for (let id = 0; id < this.#texts.length; id++) this.#place(id);
  }

  #place(id: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#hashes[id] as number) & mask;
    while (this.#slots[slot] !== EMPTY) slot = (slot + 1) & mask;
    this.#slots[slot] = id;
  }
}
