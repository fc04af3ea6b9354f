import type { Expression } from '../ast/nodes.ts';
import type { Code } from '../diagnostics/codes.ts';
import type { AggregateCall, AttributeName, PlanExpression, RowReference } from '../plan/plan.ts';
import type { FieldType } from '../plan/types.ts';
import type { EmittedShape, EventSymbol } from './symbols.ts';

/** The fields of a row: of an event, a result, a match. */
export interface RowShape {
  /** For messages, as it follows "has no field": "event `Login`", "the result of `.select`". */
  readonly description: string;
  readonly fields: readonly FieldType[];
  /** Further fields may be there, of type `any`. Undeclared events are open; so is what cannot be known. */
  readonly open: boolean;
  /** Readable besides fields, unless a field has that name; `event_type` and `timestamp` always are. */
  readonly attributes: readonly AttributeName[];
  /** The declared event whose rows these are, for hints and W034; null otherwise. */
  readonly event: EventSymbol | null;
  /** Names whose attribute goes before a field of that name: after a match, bare `timestamp` and `event_type` are the match's. */
  readonly attributesFirst?: readonly AttributeName[];
  /** Names that several things would have at once, with all of these: `a_b_id` is `a.b_id` and `a_b.id`. */
  readonly clashes?: ReadonlyMap<string, readonly string[]>;
}

/** What a name is at one place. */
export type Meaning =
  /** A value. `bare` is true for a field or attribute read by its bare name; `mutable` for a `var` of a function. */
  | { readonly kind: 'value'; readonly expression: PlanExpression; readonly bare: boolean; readonly mutable?: boolean }
  /** A row: before a dot its fields are read, alone it is the row as a map. `once`: of a step written with `{1}`, for hints. */
  | { readonly kind: 'row'; readonly reference: RowReference; readonly shape: RowShape; readonly once?: boolean }
  /** The captures of a closure: `b.f` is the last; `count(b)`, `first(b).f`, `b[0].f`, `sum(b.f)` read it. `running` while it is being built. */
  | { readonly kind: 'closure'; readonly slot: number; readonly shape: RowShape; readonly running: boolean }
  /** A name that cannot be read here. */
  | ({ readonly kind: 'refused' } & Refusal);

/** Why a name cannot be read, and what to write. */
export interface Refusal {
  readonly code: Code;
  readonly message: string;
  readonly hint: string;
}

/** What lowering gives back to an interceptor. */
export type Lower = (node: Expression, scope: NameScope) => PlanExpression;

/**
 * What names mean at one place, innermost first. A scope knows locals, aliases and fields; `let`/`const`/`var` and
 * functions of the program come behind it, and open fields last of all.
 */
export interface NameScope {
  meaning(name: string): Meaning | undefined;
  /** What an unknown bare name reads when the row is open; null when it is closed. Asked after the program's values. */
  openField(name: string): PlanExpression | null;
  /** Bare names known here, for did-you-mean. */
  names(): readonly string[];
  /** Names that may stand before a dot, for did-you-mean. */
  qualifiers(): readonly string[];
  /** What more there is to say about an unknown name ("`c` is a later step"). */
  hint?(name: string): string | undefined;
  /** Steps that cannot be read here, with why. Before a dot such a name is no field, however open the row. */
  readonly unbound?: ReadonlyMap<string, string>;
  /** What to report instead of an unknown name. */
  refuse?(name: string): Refusal | undefined;
  /** For the message of an unknown name: "event `Login`"; null where there is no row. */
  readonly description: string | null;
  /** The declared event whose fields are read bare, if it is one. */
  readonly event: EventSymbol | null;
  /** Takes over nodes that mean something special here (aggregate calls); undefined = nothing special. */
  intercept?(node: Expression, lower: Lower): PlanExpression | undefined;
  /** Some name is a closure; where none is, no call can read one. */
  readonly hasClosures?: boolean;
  /** The row comes from a `.window` without `.aggregate`: aggregate calls are refused with E073. */
  readonly bareWindow?: boolean;
  /** In the body of a function: where its `emit`s are collected. Absent, `emit` and functions that emit are refused. */
  readonly emits?: EmittedShape[];
  /** The next free local slot of the frame this scope belongs to. */
  readonly frame: Frame;
}

/** The local slots of one activation or one expression of a stream; lambdas take theirs from it. */
export interface Frame {
  allocate(): number;
  /** How many times a local was given a value that need not be of its type, as only shows when the program runs. */
  doubts: number;
  /** The same of parameters of the functions that are called. */
  doubtfulCalls: number;
  /** Slots handed out so far. */
  readonly size: number;
}

/** A step alias or join side bound to a slot. */
export interface AliasBinding {
  readonly alias: string;
  readonly slot: number;
  readonly shape: RowShape;
  readonly closure: boolean;
  /** Its step is written with `{1}`. */
  readonly once?: boolean;
}

/** A side of a join, read as `name.f`; `synonyms` are further names of it (the event type it carries). */
export interface JoinSideBinding {
  readonly name: string;
  readonly synonyms: readonly string[];
  readonly slot: number;
  readonly shape: RowShape;
}

/** The scope of `.aggregate(..)` items and what was collected while they were lowered. */
export interface AggregateScope extends NameScope {
  /** In order of first use; equal calls share one. Complete once all items are lowered. */
  readonly calls: readonly AggregateCall[];
}

/** What a pattern step's `where` sees. */
export interface StepNames {
  readonly candidate: RowShape;
  /** The step's own alias, if it has one. */
  readonly own: { readonly alias: string; readonly slot: number; readonly closure: boolean } | null;
  /** Aliases of the steps before it. */
  readonly earlier: readonly AliasBinding[];
  /** Aliases of the pattern that cannot be read here, with why. */
  readonly unbound: ReadonlyMap<string, string>;
}
