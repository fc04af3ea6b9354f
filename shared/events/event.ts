import type { Value } from './value.ts';

/** The named values of an event, in written order. */
export type Fields = ReadonlyMap<string, Value>;

/**
 * An event as a host hands it to an engine: read, but not yet checked against the program's declared types.
 * Values are plain JSON kinds (null, bool, number, str, array, map): turning a number or text into a declared
 * `timestamp` or `duration` is the schema's work.
 */
export interface InputEvent {
  readonly type: string;
  readonly fields: Fields;
  /** Epoch milliseconds that the envelope states (a request's or a message's `timestamp`). */
  readonly timestamp?: number;
  /** Epoch milliseconds when nothing else says the time: the offset in an event file, or the time of arrival. */
  readonly fallbackTime: number;
  /** Where it came in; absent for the default input, and where that is not known: it then came by the bindings of its type. */
  readonly source?: InputSource | undefined;
}

/** A `.from()` binding that events come through. */
export interface InputSource {
  /** Of the binding, `<connector>/<topic>`. */
  readonly id: string;
  /** The broker's partition that they come from, where it has some. */
  readonly partition?: string | undefined;
}

/** What a program's `.emit` made: an alert. `time` is event time in epoch milliseconds. */
export interface OutputEvent {
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fields: Fields;
}
