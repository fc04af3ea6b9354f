import type { EnabledStep } from '../patterns/residual.ts';
import type { PartialMatch } from '../patterns/run.ts';

/** What a pattern holds and waits for, to be read and not changed. */
export interface PatternView {
  readonly kind: 'pattern';
  /** Its trends are counted: there are no runs. */
  readonly isTrend?: boolean;
  /** Open runs in order of creation. */
  readonly runs: readonly PartialMatch[];
  /** The steps that open a run. */
  readonly first: readonly EnabledStep[];
  /** Whether a run has the time of the last event of a step: of what nothing reads later, generated code keeps nothing. */
  readonly hasTime: (run: PartialMatch, slot: number) => boolean;
}
