import type { LineDiagnostic } from '../../../shared/events/reading/read-result.ts';
import type { InvalidEvent } from '../event-problems.ts';
import type { RunCounts } from '../program-run.ts';
import type { EngineTally } from './engine-totals.ts';

/** A part of an event file: the lines that begin at bytes from `from` on and before `to`. */
export interface Piece {
  readonly number: number;
  readonly from: number;
  readonly to: number;
  /** What a line without an offset or a time takes over where the lines before the piece do not tell it; epoch milliseconds. */
  readonly time: number;
}

/** A piece is read as though so many lines stood before it: the first line of a file is read in another way than others. */
export const LINES_BEFORE = 1;

/** What came of a piece, for whoever puts the pieces together. The first line of the piece has the number `LINES_BEFORE + 1`. */
export interface PieceRecord extends Recorded {
  readonly number: number;
  readonly lines: number;
  /** What a line without an offset or a time took over at the beginning, and would take over at the end; epoch milliseconds. */
  readonly startTime: number;
  readonly endTime: number;
  readonly counts: Readonly<RunCounts>;
  readonly tally: EngineTally;
}

/** What was to be shown, and what is only counted. */
export interface Recorded {
  /** In order: whole lines of standard output as UTF-8, and what else there was between them. */
  readonly shown: readonly Shown[];
  /** It is more than is kept of a piece: the piece has to be run where its results are shown. */
  readonly isTooLarge: boolean;
  /** Problems beyond those that are ever reported one by one. */
  readonly more: { readonly invalid: number; readonly unreadable: number };
  readonly incomplete: IncompleteCounts;
  /** Members that mean nothing, with the events that have them. */
  readonly unknown: readonly (readonly [string, number])[];
  readonly undelivered: readonly (readonly [string, number])[];
}

export interface IncompleteCounts {
  readonly events: number;
  /** By `Type.field`: how many, and the line of the first. */
  readonly fields: readonly (readonly [string, { readonly count: number; readonly line: number }])[];
}

export type Shown =
  | Uint8Array
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'failure'; readonly stream: string; readonly message: string }
  | { readonly kind: 'invalid'; readonly event: InvalidEvent }
  | { readonly kind: 'unreadable'; readonly diagnostic: LineDiagnostic };

/** How the view writes for which pieces are recorded. */
export interface ViewStyle {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly hasColors: boolean;
}
