import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import type { Run } from './run.ts';
import type { StateSpace } from './state-space.ts';
import type { Relevance, Watch } from './watch.ts';

/** Something that follows the runs of a pattern and changes nothing of them. */
export interface PatternObserver {
  /** Before anything is seen. `emit` hands a row on as if the pattern had made it. */
  begin(stage: { readonly plan: PatternPlan; readonly emit: (row: Row) => void }): void;
  /** Behind every event of the pattern, when its matches are out. */
  saw(sight: Sight): void;
  /** A run has given a match. */
  matched(run: Run, time: number): void;
}

/** What an event was to a pattern, and how it left the runs of its partition. */
export interface Sight {
  readonly row: Row;
  readonly key: string;
  readonly relevance: Relevance;
  readonly watches: readonly Watch[];
  readonly space: StateSpace;
  /** Slots by which runs took the event. */
  readonly taken: ReadonlySet<number>;
  /** The key's runs that are open now, in order of creation. */
  readonly runs: readonly Run[];
  /** By slot: whether a match reads it as a list. */
  readonly isList: readonly boolean[];
}
