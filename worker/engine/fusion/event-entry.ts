import type { InputEvent } from '../../../shared/events/event.ts';
import type { Type } from '../../../shared/language/plan/types.ts';

/**
 * The fast path into an engine for events of one declared type: what a reader has found in the bytes goes in as scalars,
 * without an event in between. It has the effects of `Engine.push` of the same event, byte for byte.
 *
 * It takes only plain events: every declared field is there, in any order, not null, of its declared type and within its
 * limits; nothing undeclared is there; the time is finite. Everything else goes to `Engine.push`. Checking this is the
 * caller's part: also for fields that the program does not read.
 */
export interface EventEntry {
  readonly type: string;
  /** Declared fields in order, inherited first. */
  readonly fields: readonly EntryField[];
  /** Position in `fields` of the declared timestamp that is the event's time unless an envelope states one; null = none. */
  readonly timeField: number | null;
  /**
   * Takes an event to its end. `time`: epoch ms. `isArrivalTime`: nothing but the arrival (the offset of an event file) said
   * it. `values`: those of the fields that are read, in the order of `fields`; numbers, strings and bools as they are,
   * a timestamp or duration as its milliseconds. Behind them, for each field that `isKey`, in order: where its text is kept, or
   * nothing.
   */
  readonly enter: (time: number, isArrivalTime: boolean, ...values: (number | string | boolean | TextPlace | undefined)[]) => void;
}

/**
 * Where a reader keeps the text of a field: what belongs to the text is then found by a number. A list only grows, and what a
 * place in it spells never changes.
 */
export interface TextPlace {
  readonly texts: readonly string[];
  /** -1 = the text is not kept. */
  readonly at: number;
}

export interface EntryField {
  readonly name: string;
  /** Of scalar kind: a type with fields of other kinds has no entry. */
  readonly type: Type;
  /** The program reads it: its value is handed in. */
  readonly isRead: boolean;
  /** Its value is not handed in, and must be one that could be. */
  readonly isChecked?: boolean;
  /** It is a text that is read, and state is looked up by it. */
  readonly isKey?: boolean;
}

/** From where in a broker events come that are entered. */
export interface EntryPlace {
  /** Null: there are no partitions. */
  partition: string | null;
}

/** The fast paths into a running engine. Empty where the program, or what the host wants to see, does not allow them. */
export interface EventEntries {
  readonly entries: readonly EventEntry[];
  /**
   * What takes an event of a type that the program neither declares nor reads: it counts, and time moves to it. Null for other types,
   * and where more happens around an event.
   */
  readonly unread?: (type: string) => EventEntry['enter'] | null;
  /**
   * Whoever calls `enter` sets this before: makes the whole event that is being entered, for the rare part of a program that
   * wants more of it than the fields that are read. Called, if at all, while `enter` runs.
   */
  source: (() => InputEvent) | null;
  /** The same of where the event came from. */
  readonly place: EntryPlace;
  /** Whether an event of this type that came through the binding with this id may be entered: it moves no other clock than `enter` does. */
  readonly isOf: (type: string, binding: string) => boolean;
}
