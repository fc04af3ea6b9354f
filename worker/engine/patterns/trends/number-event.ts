import { NO_ROW } from '../../operators/row.ts';
import type { TrendEvent } from './trend-groups.ts';
import type { TrendNumbers } from './trend-numbers.ts';
import type { EventValues } from './trend-totals.ts';

/** What generated code says of an event: by the positions of slots whether it fits them, and the values of columns. */
interface GivenNumbers {
  readonly slots: readonly number[];
  readonly fits: readonly boolean[];
  readonly columns: readonly number[];
  readonly values: readonly (number | null)[];
}

/** An event of generated code. No time matters to the trends: it has that of the window's start. */
export class NumberEvent implements TrendEvent {
  readonly time: number;
  readonly row = NO_ROW;
  readonly at = 0;
  readonly #numbers: TrendNumbers;
  readonly #given: GivenNumbers;
  /** By slot. */
  readonly #found: EventValues[] = [];

  constructor(time: number, numbers: TrendNumbers, given: GivenNumbers) {
    this.time = time;
    this.#numbers = numbers;
    this.#given = given;
  }

  fits(slot: number): boolean {
    return this.#given.fits[this.#given.slots.indexOf(slot)] === true;
  }

  valuesOf(slot: number): EventValues {
    this.#found[slot] ??= this.#read(slot);
    return this.#found[slot];
  }

  #read(taken: number): EventValues {
    const { columns, values } = this.#given;
    return this.#numbers.columns.map(({ slot, argument, kind }, column) => {
      if (slot !== taken) return undefined;
      if (argument === null) return 1;
      const value = values[columns.indexOf(column)] ?? null;
      return kind === 'sum' ? value : this.#numbers.valueOf(column, value);
    });
  }
}
