import { sizeOfValue } from '../../../shared/events/value-limits.ts';
import { limits } from '../../../shared/limits.ts';
import type { Row } from '../operators/row.ts';

interface Remembered {
  readonly row: Row;
  readonly key: string;
  readonly size: number;
}

/** The newest rows, in order of arrival, as many as the limits allow. */
export class RememberedRows {
  #rows: Remembered[] = [];
  /** Those before it are forgotten. */
  #first = 0;
  #size = 0;

  add(row: Row, key = ''): void {
    const size = sizeOf(row);
    this.#rows.push({ row, key, size });
    this.#size += size;
    while (this.#rows.length - this.#first > limits.watchedEventsMax || this.#size > limits.watchedValuesMax) this.#forget();
    if (this.#first > limits.watchedEventsMax) {
      this.#rows = this.#rows.slice(this.#first);
      this.#first = 0;
    }
  }

  #forget(): void {
    this.#size -= (this.#rows[this.#first] as Remembered).size;
    this.#rows[this.#first] = forgotten;
    this.#first++;
  }

  *newestFirst(): Generator<{ readonly row: Row; readonly key: string }> {
    for (let at = this.#rows.length - 1; at >= this.#first; at--) yield this.#rows[at] as Remembered;
  }

  /** The one that came with this event. */
  find(order: number): Row | undefined {
    let [low, high] = [this.#first, this.#rows.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rows[middle] as Remembered).row.order < order) low = middle + 1;
      else high = middle;
    }
    const found = this.#rows[low]?.row;
    return found?.order === order ? found : undefined;
  }
}

const forgotten: Remembered = {
  row: { type: '', time: 0, order: -1, fields: new Map(), bound: null, attributes: null, causes: [] },
  key: '',
  size: 0,
};

/** Values of a row, itself included. */
export function sizeOf({ fields }: Row): number {
  let size = 1;
  for (const value of fields.values()) size += sizeOfValue(value);
  return size;
}
