import type { Value } from '../../events/value.ts';
import type { TypeProblem } from '../plan/type-relations.ts';
import type { Type } from '../plan/types.ts';

export { EvaluationError } from '../../events/evaluation-error.ts';

/** A lambda argument as an implementation receives it: called with every argument it may take, and one with fewer parameters ignores the rest. */
export type FunctionValue = (...args: Value[]) => Value;

/** What an implementation may know besides its arguments. */
export interface CallContext {
  /** Time of the current event or result, epoch ms: the meaning of `now()`. */
  readonly now: number;
}

/** One parameter. `types` lists what is accepted; an `any` argument always passes the checker and is looked at when it runs. */
export interface Parameter {
  readonly name: string;
  readonly types: readonly Type[];
  readonly optional?: boolean;
  /** The last parameter may be given any number of times, also not at all. */
  readonly variadic?: boolean;
  /** A lambda with one of these numbers of parameters; `types` is then empty. */
  readonly lambda?: {
    readonly arities: readonly number[];
    readonly parameterTypes: (args: readonly Type[]) => readonly Type[];
    /** It gives a bool. */
    readonly isCondition?: true;
  };
}

/** An example that runs as a test and stands in the docs: an expression, and the literal it equals. */
export interface FunctionExample {
  readonly code: string;
  readonly result: string;
}

/** Everything the parser, checker, compiler, docs and editor know of a function of the language. */
export interface FunctionDescriptor {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly category: 'math' | 'string' | 'collection' | 'time' | 'conversion' | 'hashing' | 'geo' | 'network';
  readonly parameters: readonly Parameter[];
  /** The result's type from the arguments' types (lambda arguments count with their result type). */
  readonly result: (args: readonly Type[]) => Type;
  readonly summary: string;
  readonly examples: readonly [FunctionExample, ...FunctionExample[]];
  /** `propagate`: any null argument makes the result null without a call. `handle`: the implementation sees nulls. */
  readonly nulls: 'propagate' | 'handle';
  /** Why arguments of these types, each of which fits its parameter, can never do together; undefined where they may. */
  readonly checkTypes?: (args: readonly Type[]) => TypeProblem | undefined;
  /** Checks constant arguments when the program is checked; a message means E052 or E051. */
  readonly checkConstants?: (args: readonly (Value | undefined)[]) => { code: 'E051' | 'E052'; message: string } | undefined;
  /** Runs in its place where the first argument is an array of durations. */
  readonly ofDurations?: FunctionDescriptor;
  /** Pure: the same arguments and context give the same value. Throws `EvaluationError` on kinds it cannot take. */
  readonly evaluate: (args: readonly (Value | FunctionValue)[], context: CallContext) => Value;
}

/** The running state of one aggregate over one window and key. */
export interface Accumulator {
  /**
   * Throws `EvaluationError` on a kind that the aggregate cannot take, and is then unchanged. `args` are those before the
   * constants; `time` is the event's time (ms) and `order` its arrival number: `first`/`last` go by time, then by arrival.
   */
  add(args: readonly Value[], time: number, order: number): void;
  /**
   * `add` without the array: no aggregate takes more than one argument before its constants. Where it takes none (`rate`), or
   * the call gives none (`count()`), the value is `true`. Each class has its own, so that a call from one place is direct.
   */
  addOne(value: Value, time: number, order: number): void;
  /** Throws where `addOne` would on a value that is not null, and changes nothing. Absent where nothing is refused. */
  require?(value: Value): void;
  result(window: AggregateWindow): Value;
  /** The same for a reader that keeps none of it: it may change when more is added. Absent where `result` never costs a copy. */
  resultInPassing?(): Value;
  /**
   * Takes in what another accumulator of the same descriptor and constants holds; the result is then that of one
   * accumulator which was given all of it, in any order. Absent where the order of arrival decides (`collect`, `ema`).
   */
  merge?(other: Accumulator): void;
  /** What `AggregateDescriptor.load` takes; it does not change when the accumulator goes on. */
  save(): Value;
}

/**
 * An accumulator over what moves through a window: values leave in the order in which they came. Its result is that of a
 * fresh `Accumulator` given what is still there, to the bit. It is not saved: whoever holds it has the values.
 */
export interface SlidingAccumulator {
  /** As `Accumulator.addOne`; `order` is larger than that of all before. */
  addOne(value: Value, time: number, order: number): void;
  /** Takes out the oldest, given again as it was added. */
  removeOne(value: Value, time: number, order: number): void;
  result(window: AggregateWindow): Value;
}

/** What `rate()` divides by. `lengthMs` is that of the time window, or last minus first for count and session windows. */
export interface AggregateWindow {
  readonly lengthMs: number;
}

/**
 * What of numbers is enough for a result. Whoever keeps many windows may keep that as plain numbers, shared by the calls that
 * want the same, instead of an accumulator for each; results and what is saved are those of the accumulator.
 */
export type NumericState =
  /** How many values there are; with `per` the result is their number per second of the window. */
  | { readonly keeps: 'count'; readonly per?: 'second' }
  /** The exact sum; also divided by the count. */
  | { readonly keeps: 'sum' | 'mean' }
  /** The exact sums of the values and of their squares, and the count. */
  | { readonly keeps: 'moments'; readonly gives: 'variance' | 'deviation' }
  /** The one value than which none is smaller, or larger. */
  | { readonly keeps: 'extreme'; readonly sign: '<' | '>' }
  /** The last average: each value counts with this weight, what was before it with the rest. */
  | { readonly keeps: 'average'; readonly weight: (constants: readonly Value[]) => number }
  /** The value of the event at one end by time, null or not. */
  | { readonly keeps: 'end'; readonly end: 'first' | 'last' };

export interface AggregateDescriptor {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly result: (args: readonly Type[]) => Type;
  readonly summary: string;
  readonly examples: readonly [AggregateExample, ...AggregateExample[]];
  /** Arguments from this position on must be constants (`percentile`'s q, `top`'s n, `ema`'s n). */
  readonly constantsFrom?: number;
  /** Checks those constants when the program is checked; a message means E072. `create` may rely on it. */
  readonly checkConstants?: (constants: readonly Value[]) => string | undefined;
  /** The values it takes: of any kind that can be kept, or of any kind that has an order as long as all are of one. @default numbers or durations */
  readonly takes?: 'anything' | 'one_kind';
  /** Null is a value like any other: it matters whether a filter let it pass. */
  readonly takesNulls?: true;
  /** Its result follows event time where events come out of order. */
  readonly followsTime?: true;
  /** For arguments that are numbers. `count` counts values of any kind. Absent = only its accumulator will do. */
  readonly numbers?: NumericState;
  /** Runs in its place where its argument is a duration; what either saves the other loads. */
  readonly ofDurations?: AggregateDescriptor;
  readonly create: (constants: readonly Value[]) => Accumulator;
  /** Absent where only adding all that is left again gives the result. */
  readonly createSliding?: (constants: readonly Value[]) => SlidingAccumulator;
  readonly load: (constants: readonly Value[], saved: Value) => Accumulator;
}

/**
 * An example that runs as a test and stands in the docs. The values are those of field `x`, the first at second 0, each
 * one second after the other, in a window of ten seconds; `result` is the literal that the call gives.
 */
export interface AggregateExample {
  readonly values: readonly Value[];
  readonly call: string;
  readonly result: string;
}
