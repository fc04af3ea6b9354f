import type { PatternPlan, PatternSourcePlan, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { FusedRuntime } from '../fused-runtime.ts';
import type { ModuleText } from '../module-text.ts';
import type { Automaton } from './automaton.ts';
import type { MatchColumns } from './match-columns.ts';
import type { PatternInput } from './pattern-input.ts';
import type { Kept, RunForm } from './run-form.ts';

/** What the conditions of a pattern are decided by. */
export interface ConditionParts {
  readonly plan: PatternPlan;
  readonly stream: StreamPlan;
  readonly automaton: Automaton;
  readonly form: RunForm;
  readonly indexKeys: readonly (Kept | null)[];
  readonly module: ModuleText<FusedRuntime>;
  /** Somebody wants to see the runs at work. */
  readonly isWatched: boolean;
}

/** What is found out about the conditions of a pattern before they are printed. */
export interface DecidedConditions {
  /** The inputs for whose events a condition may fail. */
  readonly failing: ReadonlySet<PatternInput>;
  /** By id of the states whose runs take events together: the closure that they wait in. */
  readonly sharing: ReadonlyMap<number, number>;
}

/** What is printed of a pattern, and with what. */
export interface PatternParts extends ConditionParts, DecidedConditions {
  readonly source: PatternSourcePlan;
  readonly match: MatchColumns;
  /** Name of the function that takes the matches. */
  readonly emit: string;
  /** Name of the function that tells whether a match counts for `.after_match(..)`; null = it does. */
  readonly counts: string | null;
  /** Runs are numbers in columns. */
  readonly isFlat: boolean;
  /** Class of the runs. */
  readonly runClass: string;
  /** Name of the stream's node. */
  readonly node: string;
}
