import type { Fields } from '../../../shared/events/event.ts';
import type { Row } from '../operators/row.ts';

/** The events that wait in a join. */
export interface JoinView {
  readonly kind: 'join';
  /** In order of arrival. */
  readonly waiting: readonly WaitingView[];
}

export interface WaitingView {
  readonly side: number;
  readonly row: Row;
  readonly isMatched: boolean;
  /** The last event time at which it waits; Infinity where it waits for any time. */
  readonly until: number;
}

/** A row that waits until time has come to it. */
export interface HeldRow {
  readonly row: Row;
  /** Side of a join. */
  readonly lane: number;
}

/** A window that is open. */
export interface WindowView {
  /** The last event of its key. */
  readonly last: Row;
  /** Null where events are not counted: a window of trends. */
  readonly count: number | null;
  readonly start: number;
  readonly end: number | null;
  /** The watermark that closes it, as things stand; null for one that closes by number of events. */
  readonly closesAt: number | null;
  /** Events that a count window still needs; null for others. */
  readonly missing: number | null;
  /** What its aggregates give so far; null without aggregate, or when they cannot be evaluated yet. */
  readonly soFar: Fields | null;
}
