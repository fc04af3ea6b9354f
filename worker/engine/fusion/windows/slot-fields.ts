/** What is known of every window besides its aggregates. Times are ms; orders are arrival numbers at the window. */
export type SlotField =
  /** Number of events held; 0 = none, -1 = the slot is not in use. */
  | 'count'
  | 'lastOrder'
  /** Of the event that came last. */
  | 'time'
  | 'lastCause'
  | 'minTime'
  | 'maxTime'
  | 'firstOrder'
  | 'firstCause'
  /** Highest event time of the key, where keys expire. */
  | 'touched'
  /** Bounds of a time window. */
  | 'start'
  | 'end'
  /** The next window of the same key, a slot + 1; 0 = none. */
  | 'next'
  /** The slot that the key is known by. */
  | 'owner'
  /** Where the key's windows are aligned; NaN = not known. */
  | 'origin';

/** Where the fields stand among the numbers of a slot: those that every row reads first, then the aggregates, then the others. */
export class SlotFields {
  readonly #positions = new Map<SlotField, number>();
  readonly #cold: readonly SlotField[];
  /** How many stand before the aggregates. */
  readonly hot: number;

  /** `hot` begins with `count`. */
  constructor(hot: readonly SlotField[], cold: readonly SlotField[]) {
    hot.forEach((field, at) => void this.#positions.set(field, at));
    this.hot = hot.length;
    this.#cold = cold;
  }

  /** Puts the others behind the aggregates, which end at `from`. Gives the number of doubles in all. */
  close(from: number): number {
    this.#cold.forEach((field, at) => void this.#positions.set(field, from + at));
    return from + this.#cold.length;
  }

  at(field: SlotField): number {
    return this.#positions.get(field) as number;
  }

  has(field: SlotField): boolean {
    return this.#positions.has(field);
  }
}

export const EVERY_ROW: readonly SlotField[] = ['count', 'lastOrder', 'time', 'lastCause', 'minTime', 'maxTime'];
export const FIRST_ROW: readonly SlotField[] = ['firstOrder', 'firstCause'];
