/** A heap of numbers, the smallest on top, from which any number can be taken: what is taken stays inside until it is on top. */
class NumberHeap {
  #items: number[] = [];
  /** Numbers taken that are still inside, with how often. */
  readonly #taken = new Map<number, number>();
  #takenCount = 0;

  get size(): number {
    return this.#items.length - this.#takenCount;
  }

  /** NaN of nothing. */
  get top(): number {
    return this.#items[0] ?? Number.NaN;
  }

  /** In no order. */
  values(): readonly number[] {
    if (this.#takenCount > 0) this.#compact();
    return this.#items;
  }

  /** Sorted numbers in the place of all that is there: they are a heap as they stand. */
  fill(sorted: number[]): void {
    this.#items = sorted;
    this.#taken.clear();
    this.#takenCount = 0;
  }

  push(value: number): void {
    const items = this.#items;
    let at = items.length;
    items.push(value);
    while (at > 0) {
      const above = (at - 1) >>> 1;
      const other = items[above] as number;
      if (other <= value) break;
      items[at] = other;
      at = above;
    }
    items[at] = value;
  }

  pop(): number {
    const top = this.top;
    this.#removeTop();
    this.#dropTaken();
    return top;
  }

  /** Takes out one number of this value, which is there. */
  take(value: number): void {
    this.#taken.set(value, (this.#taken.get(value) ?? 0) + 1);
    this.#takenCount++;
    this.#dropTaken();
    if (this.#takenCount > this.size + 32) this.#compact();
  }

  #dropTaken(): void {
    while (this.#takenCount > 0 && this.#isTaken(this.top)) this.#removeTop();
  }

  /** True once for each time that the value was taken. */
  #isTaken(value: number): boolean {
    const count = this.#taken.get(value);
    if (count === undefined) return false;
    if (count === 1) this.#taken.delete(value);
    else this.#taken.set(value, count - 1);
    this.#takenCount--;
    return true;
  }

  #removeTop(): void {
    const items = this.#items;
    const value = items.pop() as number;
    if (items.length === 0) return;
    let at = 0;
    for (let below = 1; below < items.length; below = at * 2 + 1) {
      if (below + 1 < items.length && (items[below + 1] as number) < (items[below] as number)) below++;
      const other = items[below] as number;
      if (value <= other) break;
      items[at] = other;
      at = below;
    }
    items[at] = value;
  }

  #compact(): void {
    const kept = this.#items.filter((value) => !this.#isTaken(value));
    this.fill(kept.sort((a, b) => a - b));
  }
}

/** New numbers are sorted in together when they are at least this part of all; fewer find their places one by one. */
const sortedInTogether = 1 / 16;

/**
 * Numbers that are divided at a quantile: those up to its rank in one heap, the others in a second, so that adding or taking a
 * number and asking for the quantile take O(log n) each. Numbers that come without a question in between are sorted once.
 */
export class RankedNumbers {
  readonly #fraction: number;
  /** Negated, so that the largest is on top. */
  readonly #lower = new NumberHeap();
  readonly #upper = new NumberHeap();
  #added: number[];

  constructor(fraction: number, values: readonly number[] = []) {
    this.#fraction = fraction;
    this.#added = [...values];
  }

  get size(): number {
    return this.#lower.size + this.#upper.size + this.#added.length;
  }

  add(value: number): void {
    this.#added.push(value);
  }

  /** Takes out one number of this value, which is there. */
  take(value: number): void {
    this.#settle();
    if (value <= -this.#lower.top) this.#lower.take(-value);
    else this.#upper.take(value);
    this.#balance();
  }

  /** The value at rank `fraction * (n - 1)`, linear between neighbours; NaN of nothing. */
  quantile(): number {
    this.#settle();
    const rank = this.#fraction * (this.size - 1);
    const part = rank - Math.floor(rank);
    const low = -this.#lower.top;
    const high = part === 0 ? low : this.#upper.top;
    const step = high - low;
    return Number.isFinite(step) ? low + step * part : low * (1 - part) + high * part;
  }

  sorted(): number[] {
    const lower = this.#lower.values().map((value) => 0 - value);
    return [...lower, ...this.#upper.values(), ...this.#added].sort((a, b) => a - b);
  }

  #settle(): void {
    const added = this.#added;
    if (added.length === 0) return;
    if (added.length > this.size * sortedInTogether) {
      this.#divide(this.sorted());
      this.#added = [];
      return;
    }
    for (const value of added) {
      if (value <= -this.#lower.top) this.#lower.push(-value);
      else this.#upper.push(value);
    }
    added.length = 0;
    this.#balance();
  }

  #divide(sorted: readonly number[]): void {
    const count = this.#countUpToRank(sorted.length);
    this.#lower.fill(
      sorted
        .slice(0, count)
        .reverse()
        .map((value) => -value),
    );
    this.#upper.fill(sorted.slice(count));
  }

  #balance(): void {
    const count = this.#countUpToRank(this.#lower.size + this.#upper.size);
    while (this.#lower.size < count) this.#lower.push(-this.#upper.pop());
    while (this.#lower.size > count) this.#upper.push(-this.#lower.pop());
  }

  #countUpToRank(size: number): number {
    return size === 0 ? 0 : Math.floor(this.#fraction * (size - 1)) + 1;
  }
}
