import type { ParameterDeclaration } from '../ast/nodes.ts';
import type { AttributeName, PlanExpression, RowReference } from '../plan/plan.ts';
import type { FieldType, Type } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import type { AggregateScope, AliasBinding, Frame, JoinSideBinding, NameScope, RowShape } from './scope.ts';
import type { EventSymbol } from './symbols.ts';

/** The type of `event_type`, `timestamp`, `match_id` and the like. */
export function attributeType(_name: AttributeName): Type {
  throw new Error('not built');
}

/** The rows of a declared event. Closed: an undeclared field is E034. */
export function eventShape(_event: EventSymbol): RowShape {
  throw new Error('not built');
}

/** The rows of an undeclared event: any name is a field of type `any`. */
export function openShape(_type: string): RowShape {
  throw new Error('not built');
}

/** The results of `.select`, `.emit`, `.aggregate`, `.map`: exactly these fields unless `open`. */
export function recordShape(
  _description: string,
  _fields: readonly FieldType[],
  _more?: { readonly open?: boolean; readonly attributes?: readonly AttributeName[] },
): RowShape {
  throw new Error('not built');
}

/** Rows of either shape (`merge`, several last steps): a field all of them know keeps its type, others are `any` and null where missing. */
export function unionShape(_shapes: readonly RowShape[]): RowShape {
  throw new Error('not built');
}

/**
 * The match of a pattern: `<alias>_<field>` for each alias, `match_duration_ms`, and behind them the fields of its last event
 * (`last`: the shapes of the steps that can complete it). Its own `timestamp` and `event_type` go first.
 */
export function matchShape(_aliases: readonly AliasBinding[], _last: readonly RowShape[]): RowShape {
  throw new Error('not built');
}

/** Nothing but the program's values: constants, globals, parameters of operators. */
export function programScope(): NameScope {
  throw new Error('not built');
}

/** The current row, read bare and through each of `aliases`. */
export function rowScope(_shape: RowShape, _aliases?: readonly string[]): NameScope {
  throw new Error('not built');
}

/** Behind a pattern source: aliases, then the match row of `matchShape`. */
export function matchScope(_aliases: readonly AliasBinding[], _shape: RowShape): NameScope {
  throw new Error('not built');
}

/** Behind a join: `A.f` by side, bare `f` where exactly one side has it. */
export function joinScope(_sides: readonly JoinSideBinding[], _attributes?: readonly AttributeName[]): NameScope {
  throw new Error('not built');
}

/**
 * The items of `.aggregate(..)`: aggregate calls run over `rows` and are collected; outside of them only `keys` (the partition
 * keys), window attributes, program values and results so far are readable. E070-E073 are reported here.
 */
export function aggregateScope(
  _rows: NameScope,
  _result: { readonly keys: readonly FieldType[]; readonly attributes: readonly AttributeName[]; readonly windowed: boolean },
  _context: CheckContext,
): AggregateScope {
  throw new Error('not built');
}

/** `outer` with further names in front of it: locals (lambda parameters), or anything a special operator makes readable. */
export function extendScope(_outer: NameScope, _values: ReadonlyMap<string, PlanExpression>): NameScope {
  throw new Error('not built');
}

/** `outer` with further row qualifiers in front of it: `x` of `.map(x => ..)` as the current row. */
export function withRows(
  _outer: NameScope,
  _rows: ReadonlyMap<string, { readonly reference: RowReference; readonly shape: RowShape }>,
): NameScope {
  throw new Error('not built');
}

/** `outer` where calls are looked at by `intercept` first (`.trend_aggregate`). */
export function interceptScope(_outer: NameScope, _intercept: NonNullable<NameScope['intercept']>): NameScope {
  throw new Error('not built');
}

/** The body of a function: its parameters are locals 0..n-1. */
export function functionScope(
  _parameters: readonly ParameterDeclaration[],
  _types: readonly Type[],
): { readonly scope: NameScope; readonly frame: Frame } {
  throw new Error('not built');
}
