import type { OperatorPlan, PlanExpression, SourcePlan, StreamPlan } from '../../../shared/language/plan/plan.ts';
import type { Columns } from './columns.ts';
import type { FusedRuntime } from './fused-runtime.ts';
import type { Body, ModuleText } from './module-text.ts';
import type { ProgramFusion } from './program-fusion.ts';
import type { FusedInlet, InletTraits } from './shared-functions.ts';
import type { Refusal } from './typed.ts';

/** Decides what is done with a row in a function, as statements of its body. Null: it is decided. */
export type DecideRow = (columns: Columns, body: Body) => Refusal | null;

/** One stream while it is decided how it runs. */
export interface StreamContext {
  readonly plan: StreamPlan;
  readonly index: number;
  readonly program: ProgramFusion;
  /** Names of the stream as it runs, and of its counters. */
  readonly node: string;
  readonly counters: string;
  /** A part of a condition that holds for every row of the way that is being decided, for it was looked up by that. */
  readonly found: PlanExpression | null;
  /** A function for rows that come to this stream, one for each form that they have. `purpose`: what it does, among all of this stream. */
  inlet(purpose: string, columns: Columns, decide: DecideRow, traits?: InletTraits): FusedInlet | Refusal;
  /** The stream's chain from its head on, for rows of its source. Results wait for their turn. */
  chain(columns: Columns, body: Body): Refusal | null;
  /** Another stream of the program. */
  sibling(index: number): StreamContext;
  /** Behind a call that may have given the stream something earlier to wait for: `due` is the kernel's earliest deadline. */
  watch(kernel: string, body: Body): void;
}

/** Where an operator stands while it is decided how its stream runs, and what it may ask for there. */
export interface FusionContext {
  readonly program: ProgramFusion;
  readonly fusion: StreamContext;
  readonly module: ModuleText<FusedRuntime>;
  readonly stream: StreamPlan;
  /** Index of the stream. */
  readonly index: number;
  /** The row that comes to the operator. */
  readonly columns: Columns;
  /** The statements of the operator; `return` in them ends the row's way. */
  readonly body: Body;
  /** Decides all that follows, for a row that goes on from here in another function. */
  rest: DecideRow;
}

/**
 * Decides one operator. Gives the row that goes on from it in the same function; null where it has decided what follows itself, through
 * `context.rest`.
 */
export type OperatorFuser<P extends OperatorPlan = OperatorPlan> = (plan: P, context: FusionContext) => Columns | null | Refusal;

/** Decides what takes the rows of an origin at the head of a stream, one for each input that reads it. */
export type SourceFuser = (fusion: StreamContext, origin: string, columns: Columns) => readonly FusedInlet[] | Refusal;

/** Prints a kernel for a source whose rows come whole. `isWatched`: somebody wants to see it at work. */
export type RowSourceFuser = (fusion: StreamContext, isWatched: boolean) => Refusal | null;

/** What decides operators and sources, by their kind. */
export interface Fusers {
  readonly operator: (plan: OperatorPlan) => OperatorFuser | Refusal;
  readonly source: (plan: SourcePlan) => SourceFuser;
  /** Undefined: the source has no kernel of this form. */
  readonly rowSource: (plan: SourcePlan) => RowSourceFuser | undefined;
}
