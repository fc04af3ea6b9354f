import type { EnabledStep } from '../patterns/residual.ts';
import type { Run } from '../patterns/run.ts';

/** What a pattern holds and waits for, to be read and not changed. */
export interface PatternView {
  readonly kind: 'pattern';
  /** Open runs in order of creation. */
  readonly runs: readonly Run[];
  /** The steps that open a run. */
  readonly first: readonly EnabledStep[];
}
