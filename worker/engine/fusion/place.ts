import type { OperatorPlan, SourcePlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import type { FusedRuntime } from './fused-runtime.ts';
import type { Body, ModuleText } from './module-text.ts';
import type { ProgramFusion } from './program-fusion.ts';
import type { FusedInlet } from './shared-functions.ts';
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
  /** Prints all that follows, for a row that goes on from here in another function. */
  rest(columns: Columns, body: Body): void;
}

/**
 * Prints one operator. Gives the row that goes on from it in the same function; null where it has printed what follows itself, through
 * `place.rest`. @throws CannotFuse
 */
export type OperatorFuser<P extends OperatorPlan = OperatorPlan> = (plan: P, place: Place) => Columns | null;

/** Prints what takes the rows of an origin at the head of a stream. @throws CannotFuse */
export type SourceFuser = (fusion: StreamFusion, origin: string, columns: Columns) => readonly FusedInlet[];

/** What prints operators and sources, by their kind. */
export interface Fusers {
  /** Undefined: the operator takes rows. */
  readonly operator: (plan: OperatorPlan) => OperatorFuser | undefined;
  readonly source: (plan: SourcePlan) => SourceFuser;
}
