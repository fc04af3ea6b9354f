import type { OperatorPlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import type { FusedRuntime } from './fused-runtime.ts';
import type { Body, ModuleText } from './module-text.ts';
import type { ProgramFusion } from './program-fusion.ts';
import type { StreamFusion } from './stream-fusion.ts';

/** Where an operator stands while its stream is printed, and what it may ask for there. */
export interface Place {
  readonly program: ProgramFusion;
  readonly fusion: StreamFusion;
  readonly module: ModuleText<FusedRuntime>;
  readonly stream: StreamPlan;
  /** Index of the stream. */
  readonly index: number;
  /** The row that comes to the operator. */
  readonly columns: Columns;
  /** The function that is being printed; `return` in it ends the row's way. */
  readonly body: Body;
  /** Prints all that follows, for a row that goes on from here: into the same function, or into another one. */
  rest(columns: Columns, body: Body): void;
}

/** Prints one operator and, through `place.rest`, what follows. @throws CannotFuse before it has printed anything */
export type OperatorFuser<P extends OperatorPlan = OperatorPlan> = (plan: P, place: Place) => void;
