import type { Row } from '../../operators/row.ts';
import type { BlockEnd, Capture, Captures } from '../../patterns/captures.ts';

/** The last events of a run's closure, which other runs have taken as well: their rows are the last ones of the block. */
export interface TakenTogether {
  readonly block: readonly Row[];
  readonly events: number;
  /** So many events the closure has before them. */
  readonly before: number;
}

/** The same as it was saved: all of these events but the last one stand in a block. */
export interface SavedTogether extends BlockEnd {
  readonly slot: number;
  readonly events: number;
  readonly last: Row;
  /** The events of the closure before them. */
  readonly own: Capture | null;
}

/** Null = the run has taken nothing together with others. `slot`: of the closure that the runs of its state share. */
export function savedTogether(captures: Captures, slot: number): SavedTogether | null {
  const last = captures[slot] ?? null;
  const before = last?.previous ?? null;
  if (last === null || last.times > 1 || before === null || before.rowsIn === null) return null;
  return { ...before.rowsIn, slot, events: before.times + 1, last: last.row, own: before.previous };
}
