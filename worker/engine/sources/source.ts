import type { Value } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import type { PatternView } from '../trace/pattern-view.ts';
import type { HeldRow, JoinView, WindowView } from '../trace/views.ts';

/** The head of a stream: takes the rows of its origins and hands on what the chain is to see. */
export interface Source {
  /** Of what its state depends on. */
  readonly fingerprint: string;
  /** What takes the rows of an origin that the inputs at these positions read. */
  receivers(origin: string, positions: readonly number[]): readonly ((row: Row) => void)[];
  deadline(): number;
  advance(watermark: number): void;
  save(): Value;
  load(saved: Value): void;
  /** Partial matches that wait. Absent = there are none. */
  runsActive?(): number;
  /** What it holds, for explanations. Absent = nothing. */
  inspect?(): PatternView | JoinView;
  /** The windows that it has open, for explanations. Absent = there are none. */
  openWindows?(): readonly WindowView[];
  /** What waits until time has come to it, for explanations. Absent = nothing ever does. */
  held?(): readonly HeldRow[];
}
