/** Numbers that the generated reader and its surroundings share while a chunk is read, by position. */
export const marks = {
  /** Where the line begins that is being read. */
  lineStart: 0,
  /** Events that were entered since it was last set to zero. */
  entered: 1,
  /** 1 when the fields of a JSON event stand under `data`, 0 when they stand flat. */
  isNested: 2,
} as const;

/** The same for numbers that need a double. Epoch milliseconds. */
export const times = {
  /** What a line without an offset or a time takes over from the lines before it. */
  current: 0,
  /** What the envelope of the JSON event states; NaN when nothing. */
  envelope: 1,
  /** NaN, which generated text has no word for. */
  none: 2,
} as const;

export interface ReadingState {
  readonly marks: Int32Array;
  readonly times: Float64Array;
}

export function createReadingState(): ReadingState {
  return { marks: new Int32Array(3), times: new Float64Array([0, Number.NaN, Number.NaN]) };
}
