import type { PatternPlan, PatternSourcePlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { FusedRuntime } from '../fused-runtime.ts';
import type { ModuleText } from '../module-text.ts';
import type { Automaton } from './automaton.ts';
import type { MatchColumns } from './match-columns.ts';
import type { Kept, RunForm } from './run-form.ts';

/** What is printed of a pattern, and with what. */
export interface PatternParts {
  readonly plan: PatternPlan;
  readonly source: PatternSourcePlan;
  readonly stream: StreamPlan;
  readonly automaton: Automaton;
  readonly form: RunForm;
  readonly indexKeys: readonly (Kept | null)[];
  readonly match: MatchColumns;
  /** Name of the function that takes the matches. */
  readonly emit: string;
  /** Name of the function that tells whether a match counts for `.after_match(..)`; null = it does. */
  readonly counts: string | null;
  readonly module: ModuleText<FusedRuntime>;
  /** Somebody wants to see the runs at work. */
  readonly isWatched: boolean;
  /** Name of the stream's node. */
  readonly node: string;
}
