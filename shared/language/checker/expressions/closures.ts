import type { Value } from '../../../events/value.ts';
import type { Argument, Call, Expression } from '../../ast/nodes.ts';
import type { AggregateDescriptor } from '../../functions/descriptor.ts';
import type { PlanExpression, RowReference } from '../../plan/plan.ts';
import { ANY, arrayOf, INT, isNumeric } from '../../plan/types.ts';
import type { Meaning, NameScope, RowShape } from '../scope.ts';
import { knownField, readField } from '../scopes.ts';
import { unwrapped, walk } from '../walk.ts';
import { reportArguments, splitConstants } from './aggregate-arguments.ts';
import { findAggregate } from './builtins.ts';
import { rowType } from './names.ts';
import type { Place } from './place.ts';

type ClosureMeaning = Extract<Meaning, { kind: 'closure' }>;

/** A call as a name and its arguments; `x.f(a)` is `f(x, a)`. */
export interface NamedCall {
  readonly name: string;
  readonly arguments: readonly Argument[];
}

export function namedCall(node: Call): NamedCall | undefined {
  const callee = unwrapped(node.callee);
  if (callee.kind === 'Name') return { name: callee.name, arguments: node.arguments };
  if (callee.kind !== 'Member') return undefined;
  const receiver: Argument = { kind: 'Argument', span: callee.object.span, name: null, value: callee.object, order: null };
  return { name: callee.name.text, arguments: [receiver, ...node.arguments] };
}

/** One capture of a closure: `b[0]`, `first(b)`, `last(b)`, `prev(b)`. */
export function closureItem(node: Expression, place: Place): { readonly reference: RowReference; readonly shape: RowShape } | undefined {
  if (place.scope.hasClosures !== true) return undefined;
  if (node.kind === 'Index') {
    const closure = closureNamed(node.object, place.scope);
    return closure && itemAt(closure, indexOf(node.index, place));
  }
  if (node.kind !== 'Call') return undefined;
  const call = namedCall(node);
  const closure = call?.arguments.length === 1 ? closureArgument(call.arguments[0], place.scope) : undefined;
  if (!call || !closure) return undefined;
  if (call.name === 'first' || call.name === 'last') return itemAt(closure, call.name);
  return call.name === 'prev' ? itemAt(closure, closure.running ? 'last' : 'prev') : undefined;
}

function itemAt(closure: ClosureMeaning, at: Extract<RowReference, { kind: 'item' }>['at']): { reference: RowReference; shape: RowShape } {
  return { reference: { kind: 'item', slot: closure.slot, at }, shape: closure.shape };
}

function indexOf(node: Expression, place: Place): PlanExpression {
  const index = place.lower(node);
  if (!isNumeric(index.type) && index.type.kind !== 'any') {
    place.context.report('E062', node.span, 'the captures of a closure are numbered: the index is an int');
  }
  return index;
}

function closureNamed(node: Expression, scope: NameScope): ClosureMeaning | undefined {
  const name = unwrapped(node);
  const meaning = name.kind === 'Name' ? scope.meaning(name.name) : undefined;
  return meaning?.kind === 'closure' ? meaning : undefined;
}

function closureArgument(argument: Argument | undefined, scope: NameScope): ClosureMeaning | undefined {
  const value = argument?.value;
  return value && isExpression(value) ? closureNamed(value, scope) : undefined;
}

export function isExpression(value: Argument['value']): value is Expression {
  return value.kind !== 'Chain' && value.kind !== 'StepArgument' && value.kind !== 'PatternArgument';
}

/** A call that reads a closure as a whole: `count(b)`, `len(b)`, `collect(b)`, `sum(b.f)`. Undefined for any other call. */
export function lowerClosureCall(node: Call, place: Place): PlanExpression | undefined {
  const call = place.scope.hasClosures === true ? namedCall(node) : undefined;
  if (!call) return undefined;
  const whole = call.arguments.length === 1 ? closureArgument(call.arguments[0], place.scope) : undefined;
  if (whole && (call.name === 'count' || call.name === 'len')) return countOf(whole);
  if (whole && call.name === 'collect') {
    return { kind: 'row', of: { kind: 'items', slot: whole.slot }, type: arrayOf(rowType(whole.shape)) };
  }
  const aggregate = findAggregate(call.name);
  return aggregate && aggregateOfClosure({ call, aggregate, node }, place);
}

function countOf({ slot }: ClosureMeaning): PlanExpression {
  return { kind: 'closure', slot, function: 'count', argument: null, constants: [], type: INT };
}

interface ClosureAggregate {
  readonly call: NamedCall;
  readonly aggregate: AggregateDescriptor;
  readonly node: Call;
}

function aggregateOfClosure({ call, aggregate, node }: ClosureAggregate, place: Place): PlanExpression | undefined {
  const distinct = distinctArgument(call);
  if (distinct && aggregate.name === 'count') {
    const counted = findAggregate('count_distinct');
    const inner = { name: 'count_distinct', arguments: distinct.arguments };
    return counted && aggregateOfClosure({ call: inner, aggregate: counted, node }, place);
  }
  const [first] = call.arguments;
  const alias = first && isExpression(first.value) ? closureReadIn(first.value, place.scope) : undefined;
  if (!alias || !first || call.arguments.length > aggregate.parameters.length) return undefined;
  const meaning = place.scope.meaning(alias) as ClosureMeaning;
  const argument = place.lower(first.value as Expression, captureScope(place.scope, alias, meaning));
  const constants = splitConstants(call.arguments.slice(1), place);
  reportArguments({ name: call.name, aggregate, span: node.span, types: [argument.type], constants }, place.context);
  const types = [argument.type, ...constants.map(({ type }) => type)];
  const values: Value[] = constants.map(({ value }) => value ?? null);
  return { kind: 'closure', slot: meaning.slot, function: aggregate.name, argument, constants: values, type: aggregate.result(types) };
}

/** `count(distinct(e))`. */
export function distinctArgument(call: NamedCall): NamedCall | undefined {
  const [only, ...others] = call.arguments;
  if (!only || others.length > 0 || only.value.kind !== 'Call') return undefined;
  const inner = namedCall(only.value);
  return inner?.name === 'distinct' && inner.arguments.length === 1 ? inner : undefined;
}

/** The one closure whose captures an expression reads; undefined when it reads none, several, or only `first(b)`, `b[0]`, `count(b)`. */
function closureReadIn(node: Expression, scope: NameScope): string | undefined {
  const aliases = new Set<string>();
  walk(node, (part) => {
    if (part.kind === 'Name' && scope.meaning(part.name)?.kind === 'closure') aliases.add(part.name);
    if (part.kind === 'Index') return closureNamed(part.object, scope) === undefined;
    if (part.kind !== 'Call') return undefined;
    const call = namedCall(part);
    return !(call?.arguments.length === 1 && closureArgument(call.arguments[0], scope));
  });
  const [alias, ...others] = aliases;
  return others.length === 0 ? alias : undefined;
}

/** Inside `sum(b.f)`: `b` and bare names are the captured event. */
function captureScope(outer: NameScope, alias: string, { shape }: ClosureMeaning): NameScope {
  const current: RowReference = { kind: 'current' };
  return {
    ...outer,
    meaning: (name) => {
      if (name === alias) return { kind: 'row', reference: current, shape };
      const meaning = outer.meaning(name);
      if (meaning && !(meaning.kind === 'value' && meaning.bare)) return meaning;
      const expression = knownField(current, shape, name);
      return expression && { kind: 'value', expression, bare: true };
    },
    openField: (name) => (shape.open ? (readField(current, shape, name) ?? { kind: 'field', of: current, name, type: ANY }) : null),
    names: () => shape.fields.map((field) => field.name),
    description: shape.description,
    event: shape.event,
  };
}
