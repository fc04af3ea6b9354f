import type { AttributeName } from '../plan/plan.ts';
import { ANY, BOOL, DURATION, type FieldType, FLOAT, INT, printType, STR, TIMESTAMP, type Type } from '../plan/types.ts';
import type { AliasBinding, RowShape } from './scope.ts';
import type { EventSymbol } from './symbols.ts';

const ATTRIBUTE_TYPES: Readonly<Record<AttributeName, Type>> = {
  event_type: STR,
  timestamp: TIMESTAMP,
  match_id: STR,
  match_duration_ms: INT,
  window_start: TIMESTAMP,
  window_end: TIMESTAMP,
  is_final: BOOL,
  is_forecast: BOOL,
  forecast_probability: FLOAT,
  forecast_time: DURATION,
  forecast_state: ANY,
  forecast_context_depth: INT,
  forecast_lower: FLOAT,
  forecast_upper: FLOAT,
  forecast_confidence: FLOAT,
  enrich_status: STR,
  enrich_latency_ms: FLOAT,
};

/** Readable of every row. */
export const ROW_ATTRIBUTES: readonly AttributeName[] = ['event_type', 'timestamp'];

/** The type of `event_type`, `timestamp`, `match_id` and the like. */
export function attributeType(name: AttributeName): Type {
  return ATTRIBUTE_TYPES[name];
}

/** Whether rows may have something of this name besides their fields. */
export function isAttribute(name: string): boolean {
  return Object.hasOwn(ATTRIBUTE_TYPES, name);
}

/** Whether `name` is readable of a row of this shape besides its fields. */
export function hasAttribute(shape: RowShape, name: string): name is AttributeName {
  return (ROW_ATTRIBUTES as readonly string[]).includes(name) || (shape.attributes as readonly string[]).includes(name);
}

export function fieldOf(shape: RowShape, name: string): FieldType | undefined {
  return shape.fields.find((field) => field.name === name);
}

/** The rows of a declared event. Closed: an undeclared field is E034. */
export function eventShape(event: EventSymbol): RowShape {
  return { description: `event \`${event.name}\``, fields: event.type.fields, open: false, attributes: [], event };
}

/** The rows of an undeclared event: any name is a field of type `any`. */
export function openShape(type: string): RowShape {
  return { description: `event \`${type}\``, fields: [], open: true, attributes: [], event: null };
}

/** The results of `.select`, `.emit`, `.aggregate`, `.map`: exactly these fields unless `open`. */
export function recordShape(
  description: string,
  fields: readonly FieldType[],
  more: Partial<Pick<RowShape, 'open' | 'attributes' | 'clashes'>> = {},
): RowShape {
  const { open = false, attributes = [], clashes } = more;
  return { description, fields, open, attributes, event: null, ...(clashes && { clashes }) };
}

/** Rows of either shape (`merge`, several last steps): a field all of them know keeps its type, others are `any` and null where missing. */
export function unionShape(shapes: readonly RowShape[]): RowShape {
  const [first, ...rest] = shapes;
  if (!first) return recordShape('the row', []);
  if (rest.length === 0) return first;
  return {
    description: describedTogether(shapes),
    fields: unionFields([...new Set(shapes.map((shape) => shape.fields))]),
    open: shapes.some((shape) => shape.open),
    attributes: [...new Set(shapes.flatMap((shape) => shape.attributes))],
    event: rest.every((shape) => shape.event === first.event) ? first.event : null,
  };
}

/** Descriptions that a message names; of more it says how many. */
const namedDescriptionsMax = 4;

/** Each description once, so that a merge of merges of one event is still called by the event's name. */
function describedTogether(shapes: readonly RowShape[]): string {
  const all = [...new Set(shapes.map((shape) => shape.description))];
  if (all.length <= namedDescriptionsMax) return all.join(' or ');
  const named = all.slice(0, namedDescriptionsMax - 1);
  return `${named.join(', ')} or ${all.length - named.length} others`;
}

/** In order of their first mention. `lists`: the fields of each shape, those that are the same list once. */
function unionFields(lists: readonly (readonly FieldType[])[]): readonly FieldType[] {
  const [only, ...others] = lists;
  if (only && others.length === 0) return only;
  const fields = new Map<string, { readonly first: FieldType; count: number; isSame: boolean; isOptional: boolean }>();
  for (const field of lists.flat()) {
    const known = fields.get(field.name);
    if (!known) fields.set(field.name, { first: field, count: 1, isSame: true, isOptional: field.optional });
    else {
      known.count++;
      known.isSame &&= printType(field.type) === printType(known.first.type);
      known.isOptional ||= field.optional;
    }
  }
  return [...fields].map(([name, { first, count, isSame, isOptional }]) => {
    const isEverywhere = count === lists.length;
    return { name, type: isSame && isEverywhere ? first.type : ANY, optional: isOptional || !isEverywhere };
  });
}

/**
 * The match of a pattern: `<alias>_<field>` for each alias, `match_duration_ms`, and behind them the fields of its last event
 * (`last`: the shapes of the steps that can complete it). Its own `timestamp` and `event_type` go first.
 */
export function matchShape(bindings: readonly AliasBinding[], last: readonly RowShape[]): RowShape {
  const aliases = bindings.map((binding) => ({ ...binding, name: binding.alias }));
  const tail = unionShape(last);
  const own = new Map<string, FieldType>();
  for (const field of qualifiedFields(aliases)) own.set(field.name, field);
  own.set('match_duration_ms', { name: 'match_duration_ms', type: INT, optional: false });
  return {
    description: 'the match',
    fields: [...own.values(), ...tail.fields.filter((field) => !own.has(field.name))],
    open: tail.open || aliases.some((binding) => binding.shape.open),
    attributes: [...new Set<AttributeName>(['match_id', ...tail.attributes])],
    event: tail.event,
    attributesFirst: ROW_ATTRIBUTES,
    clashes: clashesOf(aliases, new Map([['match_duration_ms', 'the duration of the match']])),
  };
}

/** The names of the fields of a shape. The list is that of all that have these fields. */
export function fieldNamesOf(shape: RowShape | undefined): readonly string[] {
  if (shape === undefined) return [];
  const names = knownNames.get(shape.fields) ?? shape.fields.map(({ name }) => name);
  knownNames.set(shape.fields, names);
  return names;
}

const knownNames = new WeakMap<RowShape['fields'], readonly string[]>();

/** `<name>_<field>` for all fields of all. */
export function qualifiedFields(parts: readonly NamedShape[]): readonly FieldType[] {
  return parts.flatMap(({ name, shape }) => shape.fields.map((field) => ({ ...field, name: `${name}_${field.name}`, optional: true })));
}

interface NamedShape {
  readonly name: string;
  readonly shape: RowShape;
}

/** The names of `qualifiedFields` that stand for several things. `others`: what else has a name. */
export function clashesOf(parts: readonly NamedShape[], others: ReadonlyMap<string, string> = new Map()): NonNullable<RowShape['clashes']> {
  const meanings = new Map([...others].map(([name, what]) => [name, new Set([what])]));
  for (const { name, shape } of parts) {
    for (const field of shape.fields) {
      const full = `${name}_${field.name}`;
      meanings.set(full, (meanings.get(full) ?? new Set()).add(`\`${name}.${field.name}\``));
    }
  }
  return new Map([...meanings].filter(([, what]) => what.size > 1).map(([name, what]) => [name, [...what]]));
}
