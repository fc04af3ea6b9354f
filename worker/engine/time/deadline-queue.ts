/**
 * Things to do at points of event time, smallest time first, then smallest rank (a first event's arrival number).
 * A binary heap; what is no longer wanted is skipped by its owner when it comes out.
 */
export class DeadlineQueue<T> {
  #entries: { readonly time: number; readonly rank: number; readonly item: T }[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Time of the first entry; Infinity when there is none. */
  next(): number {
    return this.#entries[0]?.time ?? Infinity;
  }

  push(time: number, rank: number, item: T): void {
    const entries = this.#entries;
    const entry = { time, rank, item };
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, entries[parent] as typeof entry)) break;
      entries[at] = entries[parent] as typeof entry;
      at = parent;
    }
    entries[at] = entry;
  }

  /** The first item, when its time is at or before `time`. */
  popDue(time: number): T | undefined {
    const entries = this.#entries;
    const first = entries[0];
    if (first === undefined || first.time > time) return undefined;
    const last = entries.pop() as typeof first;
    if (entries.length > 0) this.#sink(last);
    return first.item;
  }

  /** All items in no particular order. */
  *items(): Iterable<T> {
    for (const entry of this.#entries) yield entry.item;
  }

  /** Drops what no longer matters, so that skipped entries do not pile up. */
  retain(isWanted: (item: T) => boolean): void {
    this.#entries = this.#entries.filter((entry) => isWanted(entry.item)).sort((a, b) => a.time - b.time || a.rank - b.rank);
  }

  #sink(entry: { readonly time: number; readonly rank: number; readonly item: T }): void {
    const entries = this.#entries;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      const right = entries[child + 1];
      if (right !== undefined && isBefore(right, entries[child] as typeof entry)) child++;
      if (!isBefore(entries[child] as typeof entry, entry)) break;
      entries[at] = entries[child] as typeof entry;
      at = child;
    }
    entries[at] = entry;
  }
}

function isBefore(a: { readonly time: number; readonly rank: number }, b: { readonly time: number; readonly rank: number }): boolean {
  return a.time < b.time || (a.time === b.time && a.rank < b.rank);
}
