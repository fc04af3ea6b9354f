import type { Value } from '../../../../shared/events/value.ts';

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
  /** Position of the newest event, where events are held. */
  | 'newest'
  /** Bounds of a time window. */
  | 'start'
  | 'end'
  /** The next window of the same key, a slot + 1; 0 = none. */
  | 'next'
  /** The slot that has this one as `next`. */
  | 'before'
  /** The slot that the key is known by. */
  | 'owner'
  /** Last event time of the sessions of the key that have closed; -Infinity = none has. */
  | 'closedLast'
  /** Events since the last result. */
  | 'since'
  /** 1 = there was a result. */
  | 'hasGiven'
  /** Where the key's windows are aligned; NaN = not known. */
  | 'origin';

/**
 * Where the fields of a slot stand: hot ones, which every row reads, before the aggregates among the numbers of the slot; cold
 * ones in an array of their own, so that less memory is walked through.
 */
export class SlotFields {
  readonly #hot: readonly SlotField[];
  readonly #cold: readonly SlotField[];
  readonly #same: Partial<Record<SlotField, SlotField>>;
  readonly #places = new Map<SlotField, number>();

  /** `hot` begins with `count`. `same`: fields that are not kept, as another says the same or nothing asks for them. */
  constructor(hot: readonly SlotField[], cold: readonly SlotField[], same: Partial<Record<SlotField, SlotField>> = {}) {
    this.#hot = hot;
    this.#cold = cold;
    this.#same = same;
  }

  /** How many stand before the aggregates. */
  get hotWidth(): number {
    return this.#hot.length;
  }

  get coldWidth(): number {
    return this.#cold.length;
  }

  has(field: SlotField): boolean {
    return this.#hot.includes(field) || this.#cold.includes(field);
  }

  /** The place of a field, or of the one that says the same: among the hot ones, or (negative, from -1 on) among the cold. */
  at(field: SlotField): number {
    let place = this.#places.get(field);
    if (place === undefined) {
      place = this.#placeOf(field);
      this.#places.set(field, place);
    }
    return place;
  }

  #placeOf(field: SlotField): number {
    const kept = this.#same[field] ?? field;
    const hot = this.#hot.indexOf(kept);
    return hot >= 0 ? hot : -1 - this.#cold.indexOf(kept);
  }
}

/** How the slots of a kernel are laid out, and what they are known by. */
export interface SlotLayout {
  readonly fields: SlotFields;
  /** Doubles of a slot. */
  readonly width: number;
  readonly keys: readonly unknown[];
  /** The key is one text. */
  readonly isTextKey: boolean;
  readonly columns: { readonly objects: readonly unknown[] };
  /** A key without events for longer than this loses its state; null = never. */
  readonly expireMs: number | null;
  /** Canonical text of a key, given by its parts. */
  textOfKey(parts: readonly Value[]): string;
  /** The reverse of it. */
  partsOfKey(text: string): Value[];
}
