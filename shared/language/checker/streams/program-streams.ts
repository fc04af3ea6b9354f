import type { OperatorPlan, StreamPlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import type { RowShape } from '../scope.ts';
import type { StreamSymbol } from '../symbols.ts';
import type { SourceRegistry } from './source-bindings.ts';

/** What streams that name this one read. */
export interface StreamResult {
  readonly plan: StreamPlan;
  readonly shape: RowShape;
  readonly carries: readonly string[];
  readonly branches: ReadonlyMap<string, BranchResult>;
  /** The rows that `S.late` gives. */
  readonly late: RowShape;
}

/** The rows at the end of one branch of a fork. */
export interface BranchResult {
  readonly shape: RowShape;
  readonly carries: readonly string[];
}

/** What the streams of a program share while they are planned. */
export interface ProgramStreams {
  /** By stream index; filled upstream first. */
  readonly results: Map<number, StreamResult>;
  readonly sources: SourceRegistry;
  /** Types given by `.emit as T` and `.process`, with the streams that give them. */
  readonly emittedTypes: ReadonlyMap<string, readonly string[]>;
}

/** One stream while its plan is made. */
export interface StreamDraft {
  readonly context: CheckContext;
  readonly program: ProgramStreams;
  readonly symbol: StreamSymbol;
  /** Branches of its forks, for `S.name`. */
  readonly branches: Map<string, BranchResult>;
  /** Their names, also of those that are not lowered yet. */
  readonly branchNames: Set<string>;
}

/** Operators, and what the rows behind them are. */
export interface Lowered<S> {
  readonly plans: readonly OperatorPlan[];
  readonly stage: S;
}
