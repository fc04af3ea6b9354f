import type { ParameterDeclaration } from '../ast/nodes.ts';
import type { AttributeName, FieldExpression, PlanExpression, RowReference } from '../plan/plan.ts';
import { ANY, type Type } from '../plan/types.ts';
import { newFrame } from './frame.ts';
import type { AliasBinding, Frame, JoinSideBinding, Meaning, NameScope, RowShape } from './scope.ts';
import { attributeType, fieldOf, hasAttribute, ROW_ATTRIBUTES } from './shapes.ts';

export { attributeType, eventShape, matchShape, openShape, recordShape, unionShape } from './shapes.ts';

export const CURRENT: RowReference = { kind: 'current' };

/** A field or attribute of a row by name; undefined when the (closed) row has no such thing. Open rows have every field. */
export function readField(reference: RowReference, shape: RowShape, name: string): PlanExpression | undefined {
  return knownField(reference, shape, name) ?? (shape.open ? openRead(reference, name) : undefined);
}

/** As `readField`, but only what the shape knows: an open row's further fields are not. */
export function knownField(reference: RowReference, shape: RowShape, name: string): PlanExpression | undefined {
  const field = fieldOf(shape, name);
  const attribute = hasAttribute(shape, name) ? name : undefined;
  const attributeFirst = attribute !== undefined && shape.attributesFirst?.includes(attribute) === true;
  if (field && !attributeFirst) return { kind: 'field', of: reference, name, type: field.type };
  if (attribute === undefined) return undefined;
  const read: PlanExpression = { kind: 'attribute', of: reference, name: attribute, type: attributeType(attribute) };
  return shape.open && !attributeFirst ? orElse(openRead(reference, name), read) : read;
}

function openRead(reference: RowReference, name: string): FieldExpression {
  return { kind: 'field', of: reference, name, type: ANY };
}

/** An open row may have a field of an attribute's name, which then goes first. */
function orElse(field: PlanExpression, attribute: PlanExpression): PlanExpression {
  return { kind: 'logical', operator: '??', left: field, right: attribute, type: ANY };
}

/** Nothing but the program's values: constants, globals, parameters of operators. */
export function programScope(): NameScope {
  return {
    meaning: () => undefined,
    openField: () => null,
    names: () => [],
    qualifiers: () => [],
    description: null,
    event: null,
    frame: newFrame(),
  };
}

/** The current row, read bare and through each of `aliases`. */
export function rowScope(shape: RowShape, aliases: readonly string[] = []): NameScope {
  return {
    meaning: (name) => {
      if (aliases.includes(name)) return { kind: 'row', reference: CURRENT, shape };
      return bareField(shape, name);
    },
    openField: (name) => (shape.open ? openRead(CURRENT, name) : null),
    names: () => shapeNames(shape),
    qualifiers: () => aliases,
    description: shape.description,
    event: shape.event,
    frame: newFrame(),
  };
}

function bareField(shape: RowShape, name: string): Meaning | undefined {
  const clash = clashOf(shape, name);
  if (clash !== undefined)
    return { kind: 'refused', code: 'E034', message: clash, hint: 'read it by its alias, or give an alias another name' };
  const expression = knownField(CURRENT, shape, name);
  return expression && { kind: 'value', expression, bare: true };
}

/** That several things would have the name; undefined where that is not so. */
export function clashOf(shape: RowShape, name: string): string | undefined {
  const meanings = shape.clashes?.get(name);
  return meanings && `\`${name}\` would be both ${meanings.join(' and ')}`;
}

function shapeNames(shape: RowShape): string[] {
  return [...shape.fields.map((field) => field.name), ...shape.attributes, ...ROW_ATTRIBUTES];
}

function aliasMeaning({ slot, shape, closure, once = false }: AliasBinding): Meaning {
  return closure ? { kind: 'closure', slot, shape, running: false } : { kind: 'row', reference: { kind: 'slot', slot }, shape, once };
}

/** The row `shape` read bare, with aliases of slots in front of it. `unbound` are aliases that cannot be read, with why. */
export function slotScope(aliases: readonly AliasBinding[], shape: RowShape, unbound: ReadonlyMap<string, string> = new Map()): NameScope {
  const inner = rowScope(shape);
  const byName = new Map(aliases.map((binding) => [binding.alias, aliasMeaning(binding)]));
  return {
    ...inner,
    hasClosures: aliases.some(({ closure }) => closure),
    meaning: (name) => byName.get(name) ?? inner.meaning(name),
    qualifiers: () => [...byName.keys()],
    hint: (name) => unbound.get(name),
    unbound,
  };
}

/** Behind a pattern source: aliases, then the match row of `matchShape`. */
export function matchScope(aliases: readonly AliasBinding[], shape: RowShape, unbound?: ReadonlyMap<string, string>): NameScope {
  return slotScope(aliases, shape, unbound);
}

/** Behind a join: `A.f` by side, bare `f` where exactly one side has it. */
export function joinScope(sides: readonly JoinSideBinding[], attributes: readonly AttributeName[] = []): NameScope {
  const byName = new Map<string, Meaning>();
  for (const side of sides) {
    for (const name of [side.name, ...side.synonyms]) byName.set(name, sideMeaning(side));
  }
  const row: RowShape = { description: 'the join', fields: [], open: false, attributes, event: null };
  const openSides = sides.filter((side) => side.shape.open);
  return {
    meaning: (name) => byName.get(name) ?? bareOfSides(sides, name) ?? bareField(row, name),
    openField: (name) => {
      const [only, ...others] = openSides;
      return only && others.length === 0 ? openRead({ kind: 'slot', slot: only.slot }, name) : null;
    },
    names: () => [...sides.flatMap((side) => side.shape.fields.map((field) => field.name)), ...shapeNames(row)],
    qualifiers: () => [...byName.keys()],
    hint: (name) => (openSides.length > 1 ? `say which side it is of: \`${openSides[0]?.name}.${name}\`` : undefined),
    description: `the join of ${sides.map((side) => `\`${side.name}\``).join(' and ')}`,
    event: null,
    frame: newFrame(),
  };
}

function sideMeaning({ slot, shape }: JoinSideBinding): Meaning {
  return { kind: 'row', reference: { kind: 'slot', slot }, shape };
}

function bareOfSides(sides: readonly JoinSideBinding[], name: string): Meaning | undefined {
  const having = sides.filter((side) => fieldOf(side.shape, name) !== undefined);
  const [only, ...others] = having;
  if (!only) return undefined;
  if (others.length > 0) {
    const choices = having.map((side) => `\`${side.name}.${name}\``).join(' or ');
    return { kind: 'refused', code: 'E034', message: `\`${name}\` is a field of several sides of the join`, hint: `write ${choices}` };
  }
  const expression = readField({ kind: 'slot', slot: only.slot }, only.shape, name);
  return expression && { kind: 'value', expression, bare: true };
}

/** `outer` with further names in front of it: locals (lambda parameters), or anything a special operator makes readable. */
export function extendScope(outer: NameScope, values: ReadonlyMap<string, PlanExpression>): NameScope {
  return {
    ...outer,
    frame: outer.frame,
    meaning: (name) => {
      const expression = values.get(name);
      return expression ? { kind: 'value', expression, bare: false } : outer.meaning(name);
    },
    names: () => [...values.keys(), ...outer.names()],
  };
}

/** `outer` with further row qualifiers in front of it: `x` of `.map(x => ..)` as the current row. */
export function withRows(
  outer: NameScope,
  rows: ReadonlyMap<string, { readonly reference: RowReference; readonly shape: RowShape }>,
): NameScope {
  return {
    ...outer,
    meaning: (name) => {
      const row = rows.get(name);
      return row ? { kind: 'row', ...row } : outer.meaning(name);
    },
    qualifiers: () => [...rows.keys(), ...outer.qualifiers()],
  };
}

/** `outer` where nodes are looked at by `intercept` first (`.trend_aggregate`). */
export function interceptScope(outer: NameScope, intercept: NonNullable<NameScope['intercept']>): NameScope {
  return { ...outer, intercept };
}

/** The body of a function: its parameters are locals 0..n-1. Of the event it runs for, only `event_type` and `timestamp` are known. */
export function functionScope(
  parameters: readonly ParameterDeclaration[],
  types: readonly Type[],
): { readonly scope: NameScope; readonly frame: Frame } {
  const frame = newFrame();
  const locals = new Map<string, PlanExpression>();
  parameters.forEach((parameter, position) => {
    locals.set(parameter.name.text, { kind: 'local', slot: frame.allocate(), type: types[position] ?? ANY });
  });
  const row: RowShape = { description: 'the current event', fields: [], open: false, attributes: [], event: null };
  const scope = extendScope({ ...rowScope(row), description: null, frame }, locals);
  return { scope, frame };
}
