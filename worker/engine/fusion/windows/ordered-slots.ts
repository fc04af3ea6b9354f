/** The slots of one key's open windows, in order of where these begin. No two begin together. */
export class OrderedSlots {
  readonly #slots: number[];
  readonly #startOf: (slot: number) => number;

  constructor(slots: readonly number[], startOf: (slot: number) => number) {
    this.#startOf = startOf;
    this.#slots = slots.toSorted((a, b) => startOf(a) - startOf(b));
  }

  get size(): number {
    return this.#slots.length;
  }

  /** How many begin at or before the time. */
  countTo(time: number): number {
    let [low, high] = [0, this.#slots.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#startOf(this.#slots[middle] as number) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** -1 = there are not so many. */
  at(place: number): number {
    return this.#slots[place] ?? -1;
  }

  /** The window that begins then; -1 = there is none. */
  startingAt(start: number): number {
    const slot = this.at(this.countTo(start) - 1);
    return slot >= 0 && this.#startOf(slot) === start ? slot : -1;
  }

  add(slot: number): void {
    this.#slots.splice(this.countTo(this.#startOf(slot)), 0, slot);
  }

  /** A session that has just been joined to another one may begin where that does. */
  delete(slot: number): void {
    const last = this.countTo(this.#startOf(slot)) - 1;
    const at = this.#slots[last] === slot ? last : last - 1;
    if (this.#slots[at] === slot) this.#slots.splice(at, 1);
  }
}
