/** A generator of whole numbers, `0 <= n < bound`, by its seed alone (mulberry32). */
export function seededRandom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * bound);
  };
}

interface Scheduled {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** What happens at which simulated time; at equal times in the order of scheduling. A binary heap. */
export class EventQueue {
  nowMs = 0;
  #order = 0;
  readonly #heap: Scheduled[] = [];

  in(delayMs: number, run: () => void): void {
    const heap = this.#heap;
    const added = { atMs: this.nowMs + delayMs, order: this.#order++, run };
    let at = heap.length;
    heap.push(added);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(added, heap[parent] as Scheduled)) break;
      heap[at] = heap[parent] as Scheduled;
      at = parent;
    }
    heap[at] = added;
  }

  /** Runs what comes next; false when there is nothing. */
  runNext(): boolean {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined) return false;
    if (this.#heap.length > 0) this.#sink(last);
    this.nowMs = first.atMs;
    first.run();
    return true;
  }

  #sink(moved: Scheduled): void {
    const heap = this.#heap;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Scheduled)) child++;
      if (!isBefore(heap[child] as Scheduled, moved)) break;
      heap[at] = heap[child] as Scheduled;
      at = child;
    }
    heap[at] = moved;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
