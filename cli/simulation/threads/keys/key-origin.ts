import { modelOf } from '../../../../shared/language/plan/alike.ts';
import type { InputPlan, NamedExpression, OperatorPlan, Plan, PlanExpression, StreamPlan } from '../../../../shared/language/plan/plan.ts';

/** A field of the rows of one origin: of events of these types, or of what a stream gives. */
export type KeyOrigin =
  | { readonly kind: 'event'; readonly types: readonly string[]; readonly field: string }
  | { readonly kind: 'stream'; readonly stream: number; readonly field: string };

/** The field of a row in a chain, or of one of the rows that it was made of. */
export interface RowField {
  readonly slot: number | null;
  readonly name: string;
}

/** The field that an expression reads as it is; null = it is another expression. */
export function fieldOf(expression: PlanExpression): RowField | null {
  if (expression.kind !== 'field' || expression.of.kind === 'item') return null;
  return { slot: expression.of.kind === 'slot' ? expression.of.slot : null, name: expression.name };
}

/**
 * Where a field of a row comes from that has passed these operators of a stream: the fields of events and other streams that have the
 * same value. Null where that cannot be said.
 */
export function originsOf(stream: StreamPlan, passed: readonly OperatorPlan[], field: RowField): readonly KeyOrigin[] | null {
  let found: RowField | null = field;
  for (const operator of [...passed].reverse()) {
    found = before(operator, found, stream);
    if (found === null) return null;
  }
  return inSource(stream, found);
}

/** The field that an operator takes a field of its rows from. */
function before(operator: OperatorPlan, field: RowField, stream: StreamPlan): RowField | null {
  switch (operator.kind) {
    case 'select':
      return fromItems(operator.items, field);
    case 'emit':
      return operator.items === null ? field : fromItems(operator.items, field);
    case 'window':
      if (operator.aggregate === null) return field.slot === null ? field : null;
      return fromResult(operator.aggregate.items, operator, field, stream);
    case 'aggregate':
    case 'window_aggregate':
      return fromResult(operator.aggregate.items, operator, field, stream);
    case 'filter':
    case 'order_by':
    case 'limit':
    case 'last':
    case 'distinct':
    case 'dedupe':
    case 'throttle':
    case 'tap':
    case 'alert':
    case 'to':
    case 'context':
      return field;
    default:
      return null;
  }
}

/** What a row was made of can be read behind items as before them. */
function fromItems(items: readonly NamedExpression[], field: RowField): RowField | null {
  if (field.slot !== null) return field;
  const named = items.filter(({ name }) => name === field.name);
  return named.length === 1 ? fieldOf((named[0] as NamedExpression).value) : null;
}

/** A result has its items, and the keys that no item has the name of. */
function fromResult(items: readonly NamedExpression[], { partition }: OperatorPlan, field: RowField, stream: StreamPlan): RowField | null {
  if (field.slot !== null) return null;
  const item = items.filter(({ name }) => name === field.name);
  if (item.length > 1) return null;
  const read = item[0] === undefined ? field : fieldOf(item[0].value);
  const keys = (partition ?? stream.partition).keys.filter(({ name }) => name === read?.name);
  return read?.slot === null && keys.length === 1 ? fieldOf((keys[0] as NamedExpression).value) : null;
}

function inSource({ source }: StreamPlan, field: RowField): readonly KeyOrigin[] | null {
  switch (source.kind) {
    case 'timer':
      return null;
    case 'events':
      return field.slot === null ? allOf(source.inputs.map((input) => inInput(input, field.name))) : null;
    case 'join': {
      const side = field.slot === null ? undefined : source.sides[field.slot];
      return side === undefined ? null : inInput(side.input, field.name);
    }
    case 'pattern': {
      const { steps, root } = source.pattern;
      const step =
        field.slot === null ? steps.find(({ alias }) => alias !== null && field.name.startsWith(`${alias}_`)) : steps[field.slot];
      const isThere = root.kind === 'sequence' && root.items.every(({ kind }) => kind === 'step');
      if (step === undefined || step.negated || step.min === 0 || !isThere) return null;
      return inInput(step.input, field.slot === null ? field.name.slice(`${step.alias}_`.length) : field.name);
    }
  }
}

/** The field of an input's rows, behind its operators. */
export function inInput({ from, operators }: InputPlan, name: string): readonly KeyOrigin[] | null {
  let field: RowField | null = { slot: null, name };
  for (const operator of [...operators].reverse()) {
    if (operator.kind === 'select') field = fromItems(operator.items, field);
    else if (operator.kind !== 'filter') return null;
    if (field?.slot !== null) return null;
  }
  switch (from.kind) {
    case 'event':
      return [{ kind: 'event', types: from.types, field: field.name }];
    case 'stream':
      return [{ kind: 'stream', stream: from.stream, field: field.name }];
    case 'branch':
    case 'late':
      return null;
  }
}

function allOf(origins: readonly (readonly KeyOrigin[] | null)[]): readonly KeyOrigin[] | null {
  return origins.includes(null) ? null : (origins as readonly (readonly KeyOrigin[])[]).flat();
}

/** The event types and fields that fields of streams come from; null where that cannot be said. */
export function eventsBehind(plan: Plan, origins: readonly KeyOrigin[]): ReadonlyMap<string, string> | null {
  const found = new Map<string, string>();
  const left = [...origins];
  const seen = new Set<string>();
  for (let origin = left.pop(); origin !== undefined; origin = left.pop()) {
    if (origin.kind === 'event') {
      for (const type of origin.types) {
        if ((found.get(type) ?? origin.field) !== origin.field) return null;
        found.set(type, origin.field);
      }
      continue;
    }
    const key = `${origin.stream} ${origin.field}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const stream = modelOf(plan.streams[origin.stream] as StreamPlan);
    const upstream = originsOf(stream, stream.operators, { slot: null, name: origin.field });
    if (upstream === null) return null;
    left.push(...upstream);
  }
  return found;
}
