import type { Span } from '../../ast/nodes.ts';
import type { AttributeName, PlanExpression } from '../../plan/plan.ts';
import type { FieldType, RecordType, Type } from '../../plan/types.ts';
import { ANY } from '../../plan/types.ts';
import type { CheckContext } from '../context.ts';
import type { AliasBinding, JoinSideBinding, NameScope, RowShape } from '../scope.ts';
import {
  attributeType,
  CURRENT,
  clashOf,
  extendScope,
  joinScope,
  matchScope,
  readField,
  recordShape,
  rowScope,
  slotScope,
  withRows,
} from '../scopes.ts';
import { clashesOf, qualifiedFields } from '../shapes.ts';

/** What is known of the rows at one point of a chain: what the next operator's names mean. */
export interface Stage {
  readonly rows: Rows;
  /** `bare`: rows of a closed window; `aggregated`: results of one. */
  readonly window: 'none' | 'bare' | 'aggregated';
  /** An aggregate stands before this point. */
  readonly aggregated: boolean;
  /** Event types that the rows still are; the second name of a join side. */
  readonly carries: readonly string[];
}

export type Rows = PlainRows | MatchRows | JoinRows | StepRows;

/** Events and results; `aliases` name the row itself. */
export interface PlainRows {
  readonly kind: 'plain';
  readonly shape: RowShape;
  readonly aliases: readonly string[];
  /** Names of steps, sides and inputs that cannot be read (any more), with what to write. */
  readonly ended?: ReadonlyMap<string, string>;
}

/** Matches: `shape` is what bare names read, `own` the fields of the match itself. */
export interface MatchRows {
  readonly kind: 'match';
  readonly bindings: readonly AliasBinding[];
  readonly shape: RowShape;
  readonly own: RowShape;
  /** Aliases of steps that are in no match, with why. */
  readonly unbound?: ReadonlyMap<string, string>;
}

/** Results of a join: its sides, and what operators added to the row. */
export interface JoinRows {
  readonly kind: 'join';
  readonly sides: readonly JoinSideBinding[];
  readonly added: RowShape;
}

/** The event that a step takes: itself, through its alias, and the steps before it. */
export interface StepRows {
  readonly kind: 'step';
  readonly bindings: readonly AliasBinding[];
  readonly shape: RowShape;
  readonly aliases: readonly string[];
}

export function plainStage(shape: RowShape, aliases: readonly string[], carries: readonly string[]): Stage {
  return { rows: { kind: 'plain', shape, aliases }, window: 'none', aggregated: false, carries };
}

/** What names mean here. Every expression gets a scope, and so a frame, of its own. */
export function scopeOf(stage: Stage): NameScope {
  const scope = withForecastTime(rowsScope(stage.rows), rowShape(stage));
  return stage.window === 'bare' ? { ...scope, bareWindow: true } : scope;
}

/** `forecast_time` has a second name. */
function withForecastTime(scope: NameScope, shape: RowShape): NameScope {
  if (!shape.attributes.includes('forecast_time') || scope.meaning('forecast_expected_time')) return scope;
  const read: PlanExpression = { kind: 'attribute', of: CURRENT, name: 'forecast_time', type: attributeType('forecast_time') };
  return extendScope(scope, new Map([['forecast_expected_time', read]]));
}

function rowsScope(rows: Rows): NameScope {
  if (rows.kind === 'plain') {
    const scope = rowScope(rows.shape, rows.aliases);
    return rows.ended ? { ...scope, hint: (name) => rows.ended?.get(name) } : scope;
  }
  if (rows.kind === 'match') return matchScope(rows.bindings, rows.shape, rows.unbound);
  if (rows.kind === 'step') {
    const own = rows.aliases.map((alias) => [alias, { reference: CURRENT, shape: rows.shape }] as const);
    return withRows(slotScope(rows.bindings, rows.shape), new Map(own));
  }
  const added = new Map<string, PlanExpression>();
  for (const { name } of rows.added.fields) {
    const read = readField(CURRENT, rows.added, name);
    if (read) added.set(name, read);
  }
  const scope = extendScope(joinScope(rows.sides, rows.added.attributes), added);
  return rows.added.open ? { ...scope, openField: (name) => ({ kind: 'field', of: CURRENT, name, type: ANY }) } : scope;
}

/** The row as one thing: what a lambda's parameter or an alias of the row reads. */
export function rowShape(stage: Stage): RowShape {
  return stage.rows.kind === 'join' ? resultShape(stage) : stage.rows.shape;
}

/** The fields that `.emit()` gives and that streams naming this one read. */
export function resultShape(stage: Stage): RowShape {
  const { rows } = stage;
  if (rows.kind === 'plain' || rows.kind === 'step') return rows.shape;
  if (rows.kind === 'match') return rows.own;
  return recordShape('the result of the join', [...qualifiedFields(rows.sides), ...rows.added.fields], {
    clashes: clashesOf(rows.sides),
    open: rows.added.open || rows.sides.some(({ shape }) => shape.open),
    attributes: rows.added.attributes,
  });
}

/** The same where the rows are given under these names: none may stand for two fields. */
export function givenShape(stage: Stage, span: Span, context: CheckContext): RowShape {
  const shape = resultShape(stage);
  for (const name of shape.clashes?.keys() ?? []) {
    const hint = 'give an alias another name, or name the fields in `.emit(..)`';
    context.report('E081', span, `the field ${clashOf(shape, name)}`, hint);
  }
  const { clashes: _, ...rest } = shape;
  return rest;
}

/** The rows with further fields and attributes (`.enrich`, `.score`, `.forecast`, a window). */
export function withAdded(
  stage: Stage,
  added: { readonly fields?: readonly FieldType[]; readonly attributes?: readonly AttributeName[]; readonly open?: boolean },
): Stage {
  const add = (shape: RowShape): RowShape => {
    const fields = added.fields ?? [];
    return {
      ...shape,
      fields: [...shape.fields.filter(({ name }) => !fields.some((field) => field.name === name)), ...fields],
      attributes: [...new Set([...shape.attributes, ...(added.attributes ?? [])])],
      open: shape.open || added.open === true,
    };
  };
  const { rows } = stage;
  if (rows.kind === 'plain' || rows.kind === 'step') return { ...stage, rows: { ...rows, shape: add(rows.shape) } };
  if (rows.kind === 'match') return { ...stage, rows: { ...rows, shape: add(rows.shape), own: add(rows.own) } };
  return { ...stage, rows: { ...rows, added: add(rows.added) } };
}

/** The rows with these fields instead; attributes stay, aliases of steps and sides end, the row's own stay. */
export function withFields(stage: Stage, shape: RowShape): Stage {
  const { rows } = stage;
  const aliases = rows.kind === 'plain' ? rows.aliases : [];
  const attributes = [...new Set([...rowShape(stage).attributes, ...shape.attributes])];
  return { ...stage, rows: { kind: 'plain', shape: { ...shape, attributes }, aliases, ended: endedBy(rows, shape.description) } };
}

function endedBy(rows: Rows, what: string): ReadonlyMap<string, string> {
  const names =
    rows.kind === 'plain' ? [] : rows.kind === 'join' ? rows.sides.map((side) => side.name) : rows.bindings.map((binding) => binding.alias);
  const ended = names.map((name) => [name, `${what} has only the fields written there: give it what is needed of \`${name}\``] as const);
  return new Map([...(rows.kind === 'plain' ? (rows.ended ?? []) : []), ...ended]);
}

/** The type of rows of this shape; `any` when fields may be there that nobody declared. */
export function typeOfShape(shape: RowShape, name: string): Type {
  if (shape.open) return ANY;
  const type: RecordType = { kind: 'record', name, fields: shape.fields };
  return type;
}
