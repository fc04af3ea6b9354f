import type { savedOrder } from '../sources/event-order.ts';
import type { Saved } from '../state/codec.ts';
import type { PartialMatch } from './run.ts';

/** What a pattern keeps, in whatever form it keeps its runs. */
export interface PatternMemory {
  /** The rows that wait for those that came before them; null where rows are seen as they come. */
  readonly order: Saved<typeof savedOrder>;
  /** Rows received. */
  readonly received: number;
  /** The highest event time of each key that can expire. */
  readonly expiry: ReadonlyMap<string, number>;
  /** In order of creation. Those that are loaded are made one after the other: nobody needs room for all of them. */
  readonly runs: Iterable<PartialMatch>;
}
