import type { OutputEvent } from '../../../shared/events/event.ts';
import type { EventPlan, OperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { StreamCounters } from '../engine.ts';
import type { Next } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import type { OwnsEvent } from '../sharing/owned-events.ts';

/** A stream of the running program, as generated code needs it. */
export interface FusedNode {
  readonly counters: StreamCounters;
  /** The earliest deadline that the program's clocks have been told of. */
  readonly watched: number;
  /** Tells the clocks of the stream's earliest deadline. */
  schedule(): void;
  /** What takes a row at one operator of the chain; behind the last one its end. */
  entry(position: number): Next;
  /** What takes the rows of an origin, one for each input that reads it. */
  receivers(origin: string): readonly ((row: Row) => void)[];
  fail(thrown: unknown, row: Row | null, operator: OperatorPlan | null): void;
}

/**
 * Makes the operator or source that takes the place of the one that works row by row. It is given what that one would be:
 * `(plan, next, environment)` of an operator, `(plan, options)` of a source.
 */
export type KernelFactory = (...args: never[]) => Kernel;

/**
 * State that generated code works on. Generated code calls it with scalars, and it calls the functions that it was linked
 * with when it has a result; to the rest of the engine it is an operator or a source that takes rows, keeps deadlines, is
 * saved and loaded. What it saves is what the operator saves whose place it takes, so one can take over from the other.
 */
export interface Kernel {
  link(...functions: readonly unknown[]): void;
}

/** What a module is linked to: the running program. */
export interface FusedRuntime {
  node(index: number): FusedNode;
  /** The operator or source that the program runs for this plan. */
  kernel(plan: object): unknown;
  /** Null when events of the type move more than one clock. */
  arrivals(type: EventPlan): Arrivals | null;
  /** Of an engine that shares the events of the type with others: which are its own. */
  owns(type: string): OwnsEvent;
  output(event: OutputEvent): void;
  /** To be called before anybody reads the counters of streams. */
  beforeCounting(settle: () => void): void;
  /** Puts a call behind the results that are on their way already; what is too much is a failure of the stream that the result is of. */
  defer(call: () => void, stream: FusedNode): void;
  /** The event that is being entered, as a row. */
  rowOfEvent(): Row;
}

/** The arrival of events of one type. */
export interface Arrivals {
  /** The event is the next one, and time moves to it. Gives its arrival number. */
  arrive(time: number, isArrivalTime: boolean): number;
  /** What it has caused comes to its end. */
  depart(): void;
}
