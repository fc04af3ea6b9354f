import type { InputEvent } from '../event.ts';
import type { EventSchemas } from '../schema.ts';

/** What a reader found in one line of an event file. Lines without an event (blank, comment, `BATCH`) give no result. */
export type ReadResult = ReadEvent | InvalidLine | UnreadableLine;

export interface ReadEvent {
  readonly kind: 'event';
  readonly event: InputEvent;
  /** 1-based. */
  readonly line: number;
  /** With `markFloats`: the fields that hold a whole number written as a float (`7.0`, `1e3`), which a `Value` cannot tell. */
  readonly wholeFloats?: readonly string[];
  /** Members beside its fields that mean nothing and were passed over. @default there are none */
  readonly unknownMembers?: readonly string[];
}

/** A line that can be read, and whose event no schema could admit: an unsafe integer, say, or more nesting than allowed. */
export interface InvalidLine {
  readonly kind: 'invalid';
  readonly line: number;
  /** Empty when the line does not get as far as its type. */
  readonly type: string;
  /** Path of the field that is wrong (`ids[2]`), empty when the event as a whole is. */
  readonly field: string;
  readonly message: string;
}

export interface UnreadableLine {
  readonly kind: 'unreadable';
  readonly diagnostic: LineDiagnostic;
}

/** Where and why a line cannot be read. Lines and columns are 1-based, columns count code points. */
export interface LineDiagnostic {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** The line, or of a long one the part around the column; control characters are made visible. */
  readonly excerpt: string;
  /** The 1-based column of `excerpt` that shows the position: `column`, unless the excerpt was cut on the left. */
  readonly excerptColumn: number;
  readonly hint?: string;
}

export interface ReaderOptions {
  /** Declared types: the names of the values in `Type(v, v)`, and which field says an event's time. */
  readonly schemas?: EventSchemas;
  /** Name of the field that says when an event happened, before anything else does. */
  readonly timeField?: string | undefined;
  /** Fills `wholeFloats`, for inference. */
  readonly markFloats?: boolean;
}

/**
 * Reads events from bytes that arrive in chunks. Where the chunks are cut changes no result; memory is bounded by the
 * longest line allowed (`limits.eventBytesMax`) and the results of one chunk. No input makes a reader throw.
 */
export interface EventReader {
  /** The results of the lines that this chunk completes. The chunk is not kept. */
  write(chunk: Uint8Array): ReadResult[];
  /** The result of a last line without a line end. Nothing may be written afterwards. */
  end(): ReadResult[];
}

/** What a reader must know to go on behind a line, besides the bytes. */
export interface ReaderPosition {
  /** Lines before the next one. */
  readonly lines: number;
  /** What a line without an offset or a time takes over: the offset, or the time, that was last set; epoch milliseconds. */
  readonly time: number;
}

/** A reader that can be asked where it is, and moved: between two lines, not while it holds a part of one. */
export interface MovableReader extends EventReader {
  position: ReaderPosition;
}
