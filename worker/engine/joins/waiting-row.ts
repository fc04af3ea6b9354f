import type { Row } from '../operators/row.ts';

/** A row that waits for partners: of a generated class with the columns that are read later, or a whole row. */
export interface Waiting {
  time: number;
  /** The row's arrival number. */
  order: number;
  /** Arrival number at the join; 0 when it waits no longer. */
  arrival: number;
  /** It has found a partner: an outer join does not give it alone. */
  isMatched: boolean;
  /** Null where the columns say all that is read. */
  row: Row | null;
  /** The one that came behind it, in a list. */
  next: Waiting | null;
}

/** A row that has not the form of its side's columns. */
export class WaitingRow implements Waiting {
  time: number;
  order: number;
  arrival = 0;
  isMatched = false;
  row: Row;
  next: Waiting | null = null;

  constructor(row: Row) {
    this.time = row.time;
    this.order = row.order;
    this.row = row;
  }
}
