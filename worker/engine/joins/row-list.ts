import type { Waiting } from './waiting-row.ts';

/** Rows that wait at one key on one side, in order of arrival: each leads to the next. */
export class RowList {
  /** The oldest; null = none waits. */
  first: Waiting | null = null;
  size = 0;
  #last: Waiting | null = null;

  push(row: Waiting): void {
    if (this.#last === null) this.first = row;
    else this.#last.next = row;
    this.#last = row;
    this.size++;
  }

  /** Takes out the oldest, which must be there. */
  shift(): Waiting {
    const row = this.first as Waiting;
    this.first = row.next;
    if (row.next === null) this.#last = null;
    row.next = null;
    this.size--;
    return row;
  }

  /** Takes out a row that is there: most often the oldest. */
  delete(row: Waiting): void {
    if (this.first === row) this.shift();
    else this.retain((one) => one !== row);
  }

  /** Keeps those that pass. */
  retain(passes: (row: Waiting) => boolean): void {
    let row = this.first;
    this.first = null;
    this.#last = null;
    this.size = 0;
    while (row !== null) {
      const { next } = row;
      row.next = null;
      if (passes(row)) this.push(row);
      row = next;
    }
  }

  get all(): readonly Waiting[] {
    const all: Waiting[] = [];
    for (let row = this.first; row !== null; row = row.next) all.push(row);
    return all;
  }
}
