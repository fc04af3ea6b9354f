import type { RunCounts } from '../../program-run.ts';
import type { EngineTally } from '../engine-totals.ts';
import type { IncompleteCounts, Recorded, Shown } from '../piece-record.ts';

/** What came of a chunk of the file in one lane. Lanes read the same chunks, so that the records of one number belong together. */
export interface LaneRecord {
  readonly number: number;
  /** Nothing comes behind it. */
  readonly isLast: boolean;
  /** Bytes of the file that have been read, and results of reading them. */
  readonly read: number;
  readonly seen: number;
  readonly entries: LaneEntries;
  /** Targets of what was delivered, how much, and the moment of the first. */
  readonly undelivered: readonly (readonly [target: string, count: number, first: number])[];
  readonly problems: Pick<Recorded, 'more' | 'unknown'> & { readonly incomplete: IncompleteCounts };
  /** Since the beginning of the file. */
  readonly counts: Readonly<RunCounts>;
  readonly tally: EngineTally;
  /** What has happened can be put in order with what happens in other lanes, and would have happened in one lane alone. */
  readonly isSound: boolean;
}

/**
 * What is to be shown, entry by entry. `moments`: which of the results of reading it comes of, and for what a step of time completes
 * before that, four more numbers in `places` (stream, level, time, rank). `ends`: where the text ends in `text`; an entry that does not
 * go on there is the next of `others`.
 */
export interface LaneEntries {
  readonly moments: Float64Array;
  readonly ends: Float64Array;
  /** By entry; -1 = it follows from the event itself. */
  readonly placeAt: Int32Array;
  readonly places: Float64Array;
  readonly text: Uint8Array;
  readonly others: readonly Exclude<Shown, Uint8Array>[];
}

export const PLACE_NUMBERS = 4;
