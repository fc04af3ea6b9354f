import type { Value } from '../../events/value.ts';
import type { Span } from '../ast/nodes.ts';
import type { SourceText } from '../diagnostics/diagnostic.ts';
import type { FieldType, RecordType, Type } from './types.ts';

/**
 * The typed plan: what a checked program means, with every name resolved and all sugar gone. Checker in, engine out.
 * It is the only thing the reference evaluator and the code generator read. All durations are milliseconds.
 * Nothing in it depends on where the text stood but `origin`, which is left out of fingerprints.
 */
export interface Plan {
  readonly events: readonly EventPlan[];
  readonly globals: readonly GlobalPlan[];
  /** Top-level `x := e` of the program, run once at load after the globals, in written order. */
  readonly loads: readonly LoadPlan[];
  readonly functions: readonly FunctionPlan[];
  readonly connectors: readonly ConnectorPlan[];
  readonly contexts: readonly ContextPlan[];
  /** `sources[0]` is the default input; the others are the distinct `.from()` bindings. */
  readonly sources: readonly SourceBinding[];
  /** In order of declaration, which is the order of delivery. */
  readonly streams: readonly StreamPlan[];
}

/** Where a thing stands in the user's text: for diagnostics, traces and explanations. */
export interface Origin {
  readonly source: SourceText;
  readonly span: Span;
}

/** A declared event type. */
export interface EventPlan {
  readonly name: string;
  /** Inherited fields first. */
  readonly fields: readonly FieldType[];
  /** The types an event of this type also is, nearest first: what it extends. */
  readonly ancestors: readonly string[];
  /** The first declared field of type timestamp. */
  readonly timeField: string | null;
}

/** `const` is folded away; `let` is evaluated once at load, `var` is program state. */
export interface GlobalPlan {
  readonly name: string;
  readonly binding: 'let' | 'var';
  readonly type: Type;
  readonly value: PlanExpression;
  /** Where its name stands. */
  readonly origin: Origin;
}

/** `x := e` at the top of a program. */
export interface LoadPlan {
  readonly global: number;
  readonly value: PlanExpression;
  readonly origin: Origin;
}

export interface FunctionPlan {
  readonly name: string;
  /** Locals 0..n-1 are the parameters. */
  readonly parameters: readonly { readonly name: string; readonly type: Type }[];
  readonly result: Type;
  /** Number of local slots of an activation, those of lambdas in it included. */
  readonly locals: number;
  /** The value of a body is that of the `return` reached, else null; implicit results are returns here. */
  readonly body: readonly PlanStatement[];
  readonly origin: Origin;
}

export interface ConnectorPlan {
  readonly name: string;
  readonly type: string;
  readonly parameters: ReadonlyMap<string, Value>;
  readonly origin: Origin;
}

export interface ContextPlan {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, Value>;
}

/** One subscription. The default input has no connector and is called `input`. */
export interface SourceBinding {
  /** `<connector>/<topic>`, what `InputSource.id` names; `input` for the default one. */
  readonly id: string;
  readonly connector: string | null;
  readonly parameters: ReadonlyMap<string, Value>;
  /** The event types bound to it. For the default input: none, as it carries every type that no other binding names. */
  readonly eventTypes: readonly string[];
}

// ------------------------------------------------------------------------------------------------ streams

export interface StreamPlan {
  readonly name: string;
  readonly source: SourcePlan;
  /** The chain, in written order, without what `source`, `partition`, `time` and `onError` have absorbed. */
  readonly operators: readonly OperatorPlan[];
  /** Key of everything stateful in this stream; empty = one partition. */
  readonly partition: PartitionPlan;
  readonly time: TimePlan;
  readonly onError: 'skip' | 'null' | 'dlq';
  /** What is known of the results, whatever events come; `any` where it is nothing. */
  readonly resultType: Type;
  /** `stream X: T`: what its outputs go into. */
  readonly declaredType?: RecordType;
  readonly origin: Origin;
}

export interface PartitionPlan {
  /** Evaluated on the row that reaches the stateful operator (in a pattern: on the candidate event). */
  readonly keys: readonly NamedExpression[];
  /** Drops a key's state after more than this long without events; null = never. */
  readonly expireMs: number | null;
}

export interface TimePlan {
  /** `.watermark(on: f)`: event time of this stream's source events that have the field. */
  readonly on: string | null;
  readonly outOfOrderMs: number;
  readonly idleMs: number | null;
  readonly allowedLatenessMs: number;
}

export interface NamedExpression {
  readonly name: string;
  readonly value: PlanExpression;
}

export type SourcePlan = EventsSource | PatternSourcePlan | JoinSourcePlan | TimerSourcePlan;

/** One input (`X`) or several (`merge`). */
export interface EventsSource {
  readonly kind: 'events';
  readonly inputs: readonly InputPlan[];
}

/**
 * Where rows come from. Operators on an input (in `merge`, `join`) are row by row: filter, select, map.
 * `name` is what the program calls it there.
 */
export interface InputPlan {
  readonly name: string;
  readonly from:
    | {
        readonly kind: 'event';
        readonly type: string /** The type itself and every declared type extending it. */;
        readonly types: readonly string[];
      }
    | { readonly kind: 'stream'; readonly stream: number }
    | { readonly kind: 'late'; readonly stream: number }
    | { readonly kind: 'branch'; readonly stream: number; readonly branch: string };
  readonly operators: readonly OperatorPlan[];
}

export interface TimerSourcePlan {
  readonly kind: 'timer';
  readonly periodMs: number;
  readonly initialDelayMs: number | null;
  /** `Timer_<stream>`. */
  readonly eventType: string;
}

export interface JoinSourcePlan {
  readonly kind: 'join';
  readonly join: 'inner' | 'left' | 'right' | 'full';
  /** Row slot i of a result is side i. */
  readonly sides: readonly JoinSide[];
  /** What remains of `.on` besides the equalities; reads slots. Null = nothing. */
  readonly residual: PlanExpression | null;
  readonly withinMs: number | null;
  /** `.window(n)`: newest n of each side and key, whatever their age. */
  readonly withinCount: number | null;
  readonly latestOnly: boolean;
  /** Rows that may wait. @default limits.patternRunsDefault */
  readonly waitingMax?: number;
  readonly fingerprint: string;
}

export interface JoinSide {
  readonly name: string;
  readonly input: InputPlan;
  /** Fields that its rows have in any case, where a result may lack the side: they are null then. */
  readonly fieldNames: readonly string[];
  /** Key parts in one order for all sides, evaluated on the side's row as the current row. Null keys never join. */
  readonly keys: readonly PlanExpression[];
}

export interface PatternSourcePlan {
  readonly kind: 'pattern';
  readonly pattern: PatternPlan;
}

// ------------------------------------------------------------------------------------------------ patterns

/**
 * A pattern. Every written step, `NOT` included, has a slot, numbered left to right; a run binds slots to rows.
 * Where an expression of a step runs, the current row is the candidate and slots are what the run holds so far.
 */
export interface PatternPlan {
  /** The named pattern it came from, or null. */
  readonly name: string | null;
  readonly steps: readonly StepPlan[];
  readonly root: PatternNode;
  readonly withinMs: number | null;
  readonly selection: 'next' | 'strict' | 'any';
  readonly emission: 'longest' | 'each' | 'subsets';
  /** Matches per completion under `subsets`. */
  readonly subsetsMax: number;
  readonly afterMatch: 'no_skip' | 'skip_to_next' | 'skip_past_last';
  /** `.not(X where e)`. */
  readonly cancels: readonly CancelPlan[];
  /** `.increasing(f)` / `.decreasing(f)` on the only closure: slot, value of the candidate, direction. */
  readonly monotone: { readonly slot: number; readonly value: PlanExpression; readonly direction: 'increasing' | 'decreasing' } | null;
  readonly runsMax: number;
  readonly closureMax: number;
  readonly fingerprint: string;
}

export interface StepPlan {
  readonly slot: number;
  readonly alias: string | null;
  /** Fields that its events have in any case: they are null in a match without the step. */
  readonly fieldNames: readonly string[];
  /** What a candidate comes from: an event type, a stream, `X.late`, a branch. */
  readonly input: InputPlan;
  readonly negated: boolean;
  /** `B` is 1..1, `B+` 1..Infinity, `B*` 0..Infinity, `B?` 0..1. A closure has max > 1. */
  readonly min: number;
  readonly max: number;
  readonly closure: boolean;
  readonly where: PlanExpression | null;
  /** Own `within`: gap to the previous step (inclusive); for a `NOT` its deadline. */
  readonly withinMs: number | null;
  /** `.print .log .tap` on the step, run when a run takes the event. */
  readonly taps: readonly OperatorPlan[];
  readonly origin: Origin;
}

export type PatternNode =
  /** `others`: the slots behind the first of a `NOT (B OR C)`, which is one absence of all their events. */
  | { readonly kind: 'step'; readonly slot: number; readonly others?: readonly number[] }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'and'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'or'; readonly items: readonly PatternNode[] }
  /** A group. `withinMs` bounds its first to its last event. */
  | { readonly kind: 'group'; readonly item: PatternNode; readonly min: number; readonly max: number; readonly withinMs: number | null };

export interface CancelPlan {
  readonly input: InputPlan;
  readonly where: PlanExpression | null;
}

// ------------------------------------------------------------------------------------------------ operators

interface OperatorBase<K extends string> {
  readonly kind: K;
  /** The operator as written, for traces: `where(price > 50)`. */
  readonly text: string;
  /** Of what it means, not how it was written; equal for equal operators. Keys state in checkpoints. */
  readonly fingerprint: string;
  readonly origin: Origin;
  /**
   * Set on a stateful operator whose key is not simply `StreamPlan.partition` evaluated on its rows: behind an aggregate with
   * computed keys (its results carry them as fields), and in a branch of a fork with a `.partition_by` of its own.
   */
  readonly partition?: PartitionPlan;
}

/** Operators that act per closed window when one stands before them in the chain, else over the stream's life. */
export type Extent = 'window' | 'stream';

export type OperatorPlan =
  | FilterPlan
  | SelectPlan
  | MapPlan
  | EmitPlan
  | WindowOperatorPlan
  | AggregateOperatorPlan
  | WindowAggregatePlan
  | OrderByPlan
  | LimitPlan
  | LastPlan
  | DistinctPlan
  | DedupePlan
  | ThrottlePlan
  | ProcessPlan
  | TapPlan
  | AlertPlan
  | ToPlan
  | ForkPlan
  | ContextOperatorPlan
  | TrendAggregatePlan
  | ForecastPlan
  | EnrichPlan
  | ScorePlan;

export interface FilterPlan extends OperatorBase<'filter'> {
  readonly condition: PlanExpression;
}
/** `.pattern(name: events => expr)`: the rows of the closed window as an array of maps in local 0. */
export interface WindowPredicate {
  readonly condition: PlanExpression;
  /** What the rows are called in it. */
  readonly text: string;
}
export interface SelectPlan extends OperatorBase<'select'> {
  readonly items: readonly NamedExpression[];
}
/** The value is a map and becomes the row's fields; `x` of `x => ..` is the current row, resolved away. */
export interface MapPlan extends OperatorBase<'map'> {
  readonly value: PlanExpression;
}
/** Outputs the row and hands it on with these fields. `items` null = all fields (`.emit()`). */
export interface EmitPlan extends OperatorBase<'emit'> {
  /** The type of the output: the stream's name, or `T` of `.emit as T`. */
  readonly type: string;
  readonly items: readonly NamedExpression[] | null;
}
export type WindowPlan =
  /** `slideMs` equals `sizeMs` when tumbling. `earlyMs` null = no interim results. */
  | {
      readonly kind: 'time';
      readonly sizeMs: number;
      readonly slideMs: number;
      readonly offsetMs: number;
      readonly align: 'epoch' | 'first';
      readonly earlyMs: number | null;
    }
  /** `slide` null = tumbling. */
  | { readonly kind: 'count'; readonly size: number; readonly slide: number | null }
  | { readonly kind: 'session'; readonly gapMs: number; readonly earlyMs: number | null };

export interface WindowOperatorPlan extends OperatorBase<'window'> {
  readonly window: WindowPlan;
  /** Null: hands on each event of the closed window in order. */
  readonly aggregate: AggregatePlan | null;
  /**
   * `.pattern(..)` right after it: a window whose rows do not fit is dropped whole; one that fits gives, without aggregate, one row
   * with the fields of its last event.
   */
  readonly predicates: readonly WindowPredicate[];
}
/** `.aggregate` without a window: one result per event over everything so far in the partition. */
export interface AggregateOperatorPlan extends OperatorBase<'aggregate'> {
  readonly aggregate: AggregatePlan;
}
/**
 * `.window(..)`, then operators such as `.where`, then `.aggregate`: one result per closed window over those of its rows that
 * came through, with the attributes and the time of a result of that window. None when no row came through.
 */
export interface WindowAggregatePlan extends OperatorBase<'window_aggregate'> {
  readonly aggregate: AggregatePlan;
}
export interface AggregatePlan {
  readonly calls: readonly AggregateCall[];
  /** May read `aggregate` results, the partition keys (fields of the current row) and window attributes. */
  readonly items: readonly NamedExpression[];
}
export interface AggregateCall {
  readonly function: string;
  /** Evaluated on each row; constants stand in `constants`. */
  readonly arguments: readonly PlanExpression[];
  readonly constants: readonly Value[];
  readonly filter: PlanExpression | null;
}
export interface OrderByPlan extends OperatorBase<'order_by'> {
  readonly items: readonly { readonly value: PlanExpression; readonly descending: boolean }[];
}
/** `.limit(n)`; `.first()` is 1. */
export interface LimitPlan extends OperatorBase<'limit'> {
  readonly count: number;
  readonly extent: Extent;
}
export interface LastPlan extends OperatorBase<'last'> {}
/** `key` null = all fields. `withinMs` null = never forgets. */
export interface DistinctPlan extends OperatorBase<'distinct'> {
  readonly key: PlanExpression | null;
  readonly withinMs: number | null;
  readonly extent: Extent;
}
export interface DedupePlan extends OperatorBase<'dedupe'> {
  readonly key: PlanExpression;
  readonly withinMs: number;
}
export interface ThrottlePlan extends OperatorBase<'throttle'> {
  readonly count: number;
  readonly perMs: number;
}
/** Calls a function for its `emit`s; each goes on as a row and is an output event of type `type`. */
export interface ProcessPlan extends OperatorBase<'process'> {
  readonly function: number;
  readonly arguments: readonly PlanExpression[];
}
export interface TapPlan extends OperatorBase<'tap'> {
  readonly tap: 'tap' | 'print' | 'log';
  /** `print`: what to print (empty = the event). `tap`: the expression, if any. */
  readonly values: readonly PlanExpression[];
  readonly level: PlanExpression | null;
  readonly message: PlanExpression | null;
  readonly data: PlanExpression | null;
  /** `.tap(counter: "name", labels: [f, ..])`. */
  readonly counter: string | null;
  readonly labels: readonly NamedExpression[];
}
export interface AlertPlan extends OperatorBase<'alert'> {
  readonly url: string | null;
  /** A template expression over the row; null = the event as JSON. */
  readonly message: PlanExpression | null;
}
export interface ToPlan extends OperatorBase<'to'> {
  readonly connector: string;
  readonly topic: PlanExpression | null;
  readonly parameters: ReadonlyMap<string, Value>;
}
export interface ForkPlan extends OperatorBase<'fork'> {
  readonly branches: readonly { readonly name: string; readonly operators: readonly OperatorPlan[] }[];
}
/** `.context(c)`, `.concurrent(..)`: where the work runs, never what it gives. */
export interface ContextOperatorPlan extends OperatorBase<'context'> {
  readonly context: string | null;
  readonly parameters: ReadonlyMap<string, Value>;
}
/** Right after a pattern source; replaces matching. One result per partition and window. */
export interface TrendAggregatePlan extends OperatorBase<'trend_aggregate'> {
  readonly windowMs: number;
  readonly calls: readonly TrendCall[];
  /** May read `aggregate` results by index, keys, and aliases (the last event bound in that partition and window). */
  readonly items: readonly NamedExpression[];
}
export interface TrendCall {
  readonly function: 'count_trends' | 'count_events' | 'sum_trends' | 'avg_trends' | 'min_trends' | 'max_trends';
  readonly slot: number | null;
  /** Evaluated on the event. */
  readonly argument: PlanExpression | null;
}
export interface ForecastPlan extends OperatorBase<'forecast'> {
  readonly confidence: number;
  readonly horizonMs: number;
  readonly warmup: number;
  readonly maxDepth: number;
  readonly hawkes: boolean;
  readonly conformal: boolean;
}
export interface EnrichPlan extends OperatorBase<'enrich'> {
  readonly connector: string;
  readonly key: PlanExpression;
  readonly fields: readonly string[];
  readonly cacheTtlMs: number | null;
  readonly timeoutMs: number;
  /** Absent = a failed lookup goes to `on_error`. */
  readonly fallback: PlanExpression | null;
}
export interface ScorePlan extends OperatorBase<'score'> {
  readonly model: string;
  readonly inputs: readonly PlanExpression[];
  readonly inputNames: readonly string[];
  readonly outputs: readonly string[];
  readonly parameters: ReadonlyMap<string, Value>;
}

// ------------------------------------------------------------------------------------------------ expressions

/** Whose fields are read. `item` is one captured event of a closure. */
export type RowReference =
  | { readonly kind: 'current' }
  /** A step's or join side's row; for a closure its last capture. Null row: every field is null. */
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'item'; readonly slot: number; readonly at: 'first' | 'last' | 'prev' | PlanExpression };

/** What is readable of a row besides its fields. Null where a row has no such thing. */
export type AttributeName =
  | 'event_type'
  | 'timestamp'
  | 'match_id'
  | 'match_duration_ms'
  | 'window_start'
  | 'window_end'
  | 'is_final'
  | 'is_forecast'
  | 'forecast_probability'
  | 'forecast_time'
  | 'forecast_state'
  | 'forecast_context_depth'
  | 'forecast_lower'
  | 'forecast_upper'
  | 'forecast_confidence'
  | 'enrich_status'
  | 'enrich_latency_ms';

interface ExpressionBase<K extends string> {
  readonly kind: K;
  readonly type: Type;
}

export type PlanExpression =
  | ConstantExpression
  | FieldExpression
  | AttributeExpression
  | RowExpression
  | LocalExpression
  | GlobalExpression
  | AggregateResultExpression
  | ClosureAggregateExpression
  | UnlessFirstCaptureExpression
  | UnaryExpression
  | BinaryExpression
  | LogicalExpression
  | IsNullExpression
  | ConditionalExpression
  | ArrayExpression
  | MapExpression
  | MemberExpression
  | IndexExpression
  | SliceExpression
  | RangeExpression
  | TemplateExpression
  | CallExpression
  | InvokeExpression
  | LambdaExpression
  | BlockExpression;

export interface ConstantExpression extends ExpressionBase<'constant'> {
  readonly value: Value;
}
/** A field of a row; null when absent. A match's own fields (`a_f`) are read like any other field, then its last event's. */
export interface FieldExpression extends ExpressionBase<'field'> {
  readonly of: RowReference;
  readonly name: string;
}
export interface AttributeExpression extends ExpressionBase<'attribute'> {
  readonly of: RowReference;
  readonly name: AttributeName;
}
/** A whole row as a map (an event handed to a function; `items` = a closure as an array of maps, `collect(b)`). */
export interface RowExpression extends ExpressionBase<'row'> {
  readonly of: RowReference | { readonly kind: 'items'; readonly slot: number };
}
/** A parameter, a `let`/`var` of a function, a lambda's parameter. */
export interface LocalExpression extends ExpressionBase<'local'> {
  readonly slot: number;
}
export interface GlobalExpression extends ExpressionBase<'global'> {
  readonly global: number;
}
/** The result of `AggregatePlan.calls[index]` (or `TrendAggregatePlan.calls[index]`). */
export interface AggregateResultExpression extends ExpressionBase<'aggregate'> {
  readonly index: number;
}
/** `count(b)`, `sum(b.f)` over the captured events of a slot; the argument's current row is the captured event. */
export interface ClosureAggregateExpression extends ExpressionBase<'closure'> {
  readonly slot: number;
  readonly function: string;
  readonly argument: PlanExpression | null;
  readonly constants: readonly Value[];
}
/** A comparison in a closure's `where` that mentions its previous capture: true while the closure in `slot` is empty. */
export interface UnlessFirstCaptureExpression extends ExpressionBase<'unless_first'> {
  readonly slot: number;
  readonly condition: PlanExpression;
}
export interface UnaryExpression extends ExpressionBase<'unary'> {
  readonly operator: '-' | '~' | 'not';
  readonly operand: PlanExpression;
}
/** Strict operators: both sides are evaluated. `==`/`!=` with a literal null are `is_null`. */
export interface BinaryExpression extends ExpressionBase<'binary'> {
  readonly operator:
    | '=='
    | '!='
    | '<'
    | '<='
    | '>'
    | '>='
    | 'in'
    | 'not in'
    | '|'
    | '^'
    | '&'
    | '<<'
    | '>>'
    | '+'
    | '-'
    | '*'
    | '/'
    | '%'
    | '**';
  readonly left: PlanExpression;
  readonly right: PlanExpression;
}
/** Short-circuit: `and`/`or` treat null as false and give a bool, `??` gives the right side when the left is null. */
export interface LogicalExpression extends ExpressionBase<'logical'> {
  readonly operator: 'and' | 'or' | '??';
  readonly left: PlanExpression;
  readonly right: PlanExpression;
}
export interface IsNullExpression extends ExpressionBase<'is_null'> {
  readonly operand: PlanExpression;
  readonly negated: boolean;
}
/** A condition that is not true (null included) takes the else branch. */
export interface ConditionalExpression extends ExpressionBase<'if'> {
  readonly condition: PlanExpression;
  readonly then: PlanExpression;
  readonly otherwise: PlanExpression;
}
export interface ArrayExpression extends ExpressionBase<'array'> {
  readonly items: readonly PlanExpression[];
}
export interface MapExpression extends ExpressionBase<'map'> {
  readonly entries: readonly { readonly key: string; readonly value: PlanExpression }[];
}
/** A member of a map value; null on null or when absent. */
export interface MemberExpression extends ExpressionBase<'member'> {
  readonly object: PlanExpression;
  readonly name: string;
}
export interface IndexExpression extends ExpressionBase<'index'> {
  readonly object: PlanExpression;
  readonly index: PlanExpression;
}
export interface SliceExpression extends ExpressionBase<'slice'> {
  readonly object: PlanExpression;
  readonly from: PlanExpression | null;
  readonly to: PlanExpression | null;
}
/** An array of ints, `to` left out unless `inclusive`. */
export interface RangeExpression extends ExpressionBase<'range'> {
  readonly from: PlanExpression;
  readonly to: PlanExpression;
  readonly inclusive: boolean;
}
/** The texts of the parts (`to_string`) joined. */
export interface TemplateExpression extends ExpressionBase<'template'> {
  readonly parts: readonly (string | PlanExpression)[];
}
/** A function of the language, by its descriptor's name (aliases resolved). */
export interface CallExpression extends ExpressionBase<'call'> {
  readonly function: string;
  readonly arguments: readonly PlanExpression[];
}
/** A function of the program. */
export interface InvokeExpression extends ExpressionBase<'invoke'> {
  readonly function: number;
  readonly arguments: readonly PlanExpression[];
}
/** Only as an argument of a call. Parameters and locals are slots of the enclosing frame. */
export interface LambdaExpression extends ExpressionBase<'lambda'> {
  readonly parameters: readonly number[];
  readonly body: PlanExpression;
  /** As written. */
  readonly text: string;
}
/** A lambda's block: its value is that of the `return` reached, else null. */
export interface BlockExpression extends ExpressionBase<'block'> {
  readonly body: readonly PlanStatement[];
}

export type PlanExpressionVisitor<R> = { readonly [K in PlanExpression['kind']]: (node: Extract<PlanExpression, { kind: K }>) => R };

export function visitPlanExpression<R>(node: PlanExpression, visitor: PlanExpressionVisitor<R>): R {
  return (visitor[node.kind] as (node: PlanExpression) => R)(node);
}

// ------------------------------------------------------------------------------------------------ statements

export type PlanStatement =
  | { readonly kind: 'set_local'; readonly slot: number; readonly value: PlanExpression }
  | { readonly kind: 'set_global'; readonly global: number; readonly value: PlanExpression }
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly condition: PlanExpression; readonly body: readonly PlanStatement[] }[];
      readonly otherwise: readonly PlanStatement[];
    }
  /** Over a range or array (items), a map (pairs `[key, value]`), an int n (0..n). */
  | { readonly kind: 'for'; readonly slot: number; readonly iterable: PlanExpression; readonly body: readonly PlanStatement[] }
  | { readonly kind: 'while'; readonly condition: PlanExpression; readonly body: readonly PlanStatement[] }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }
  | { readonly kind: 'return'; readonly value: PlanExpression | null }
  | { readonly kind: 'emit'; readonly type: string; readonly items: readonly NamedExpression[] }
  | { readonly kind: 'expression'; readonly value: PlanExpression };
