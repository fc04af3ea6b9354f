import type { Call, Expression, Filtered, Name } from '../ast/nodes.ts';
import { foreignFunction } from '../diagnostics/foreign-words.ts';
import { nearestName } from '../diagnostics/nearest-name.ts';
import type { AggregateDescriptor } from '../functions/descriptor.ts';
import type { AggregateCall, AttributeName, PlanExpression } from '../plan/plan.ts';
import { promiseSame } from '../plan/type-relations.ts';
import { ANY, type FieldType } from '../plan/types.ts';
import type { CheckContext } from './context.ts';
import { reportArguments, splitConstants } from './expressions/aggregate-arguments.ts';
import { aggregateNames, findAggregate, findFunction, functionNames } from './expressions/builtins.ts';
import { distinctArgument, isExpression, type NamedCall, namedCall } from './expressions/closures.ts';
import { UNRESOLVED } from './expressions/fold.ts';
import { didYouMean } from './expressions/names.ts';
import type { Place } from './expressions/place.ts';
import { newFrame } from './frame.ts';
import { lowerBool } from './lower.ts';
import type { AggregateScope, Lower, Meaning, NameScope, Refusal } from './scope.ts';
import { rowScope } from './scopes.ts';
import { recordShape } from './shapes.ts';
import { unwrapped, walk } from './walk.ts';

/** What the result of an aggregate knows besides its items. */
export interface AggregateResult {
  /** The partition keys. */
  readonly keys: readonly FieldType[];
  readonly attributes: readonly AttributeName[];
  /** A window stands before it; without one `rate()` is refused. */
  readonly windowed: boolean;
}

/**
 * The items of `.aggregate(..)`: aggregate calls run over `rows` and are collected; outside of them only `keys` (the partition
 * keys), window attributes and program values are readable. E070-E073 are reported here.
 */
export function aggregateScope(rows: NameScope, result: AggregateResult, context: CheckContext): AggregateScope {
  const collector: Collector = { rows, result, context, calls: [], places: new Map() };
  const shape = recordShape('the result of `.aggregate`', result.keys, { attributes: result.attributes });
  const outside = rowScope(shape);
  return {
    ...outside,
    frame: newFrame(),
    calls: collector.calls,
    meaning: (name) => outside.meaning(name) ?? outsideMeaning(rows.meaning(name), name, shape),
    refuse: (name) => (rows.openField(name) ? notAggregate(name) : undefined),
    intercept: (node, lower) => aggregateIn(node, collector, lower),
  };
}

interface Collector {
  readonly rows: NameScope;
  readonly result: AggregateResult;
  readonly context: CheckContext;
  readonly calls: AggregateCall[];
  /** Equal calls share one place in `calls`. By fingerprint. */
  readonly places: Map<string, readonly number[]>;
}

/** Of what the rows know, only aliases remain, and through them only the keys. */
function outsideMeaning(meaning: Meaning | undefined, name: string, shape: ReturnType<typeof recordShape>): Meaning | undefined {
  if (!meaning) return undefined;
  if (meaning.kind === 'row' || meaning.kind === 'closure') return { kind: 'row', reference: { kind: 'current' }, shape };
  return meaning.kind === 'value' && meaning.bare ? { kind: 'refused', ...notAggregate(name) } : meaning;
}

function notAggregate(name: string): Refusal {
  const message = `\`${name}\` is a field of each event, not of the aggregate`;
  return { code: 'E073', message, hint: `write last(${name}), or make it a key with .partition_by(${name})` };
}

/** The call of an aggregate with its filter; undefined for anything else. */
function aggregateIn(node: Expression, collector: Collector, lower: Lower): PlanExpression | undefined {
  if (node.kind === 'Filtered') return filteredCall(node, collector, lower);
  if (node.kind !== 'Call') return undefined;
  const call = namedCall(node);
  if (!call || (isOwnFunction(node, collector) && unwrapped(node.callee).kind === 'Name')) return undefined;
  const aggregate = findAggregate(call.name);
  if (!aggregate)
    return findFunction(call.name) || unwrapped(node.callee).kind === 'Member' ? undefined : unknownAggregate(node, collector);
  if (findFunction(call.name) && node.arguments.some((argument) => containsAggregate(argument.value))) return undefined;
  return collect({ node, call, aggregate, filter: null }, collector, lower);
}

function isOwnFunction(node: Call, { context }: Collector): boolean {
  const callee = unwrapped(node.callee);
  return callee.kind === 'Name' && context.symbols.find('function', callee.name) !== undefined;
}

function unknownAggregate(node: Call, { context }: Collector): PlanExpression {
  const { name } = unwrapped(node.callee) as Name;
  const nearest = nearestName(name, [...aggregateNames(), ...functionNames()]);
  context.report('E070', node.callee.span, `unknown aggregate \`${name}\``, foreignFunction(name) ?? (nearest && didYouMean(nearest)));
  return UNRESOLVED;
}

/** `max(sum(x), 1)` is the function over an aggregate, not the aggregate. */
function containsAggregate(node: Call['arguments'][number]['value']): boolean {
  let found = false;
  walk(node, (part) => {
    if (part.kind === 'Call') found ||= findAggregate(namedCall(part)?.name ?? '') !== undefined;
    return !found;
  });
  return found;
}

function filteredCall(node: Filtered, collector: Collector, lower: Lower): PlanExpression {
  const inner = unwrapped(node.call);
  const call = inner.kind === 'Call' ? namedCall(inner) : undefined;
  const aggregate = call && findAggregate(call.name);
  if (inner.kind === 'Call' && call && aggregate)
    return collect({ node: inner, call, aggregate, filter: node.condition }, collector, lower);
  collector.context.report('E073', node.span, 'only an aggregate takes a `where`');
  return UNRESOLVED;
}

interface WrittenAggregate {
  readonly node: Call;
  readonly call: NamedCall;
  readonly aggregate: AggregateDescriptor;
  readonly filter: Expression | null;
}

function collect(written: WrittenAggregate, collector: Collector, lower: Lower): PlanExpression {
  const { call, aggregate, node } = written;
  const distinct = distinctArgument(call);
  if (distinct && aggregate.name === 'count') {
    const counted = findAggregate('count_distinct');
    if (counted)
      return collect({ ...written, aggregate: counted, call: { name: 'count_distinct', arguments: distinct.arguments } }, collector, lower);
  }
  const { context, rows, result } = collector;
  if (aggregate.name === 'rate' && !result.windowed) {
    context.report('E073', node.span, '`rate` needs a window', 'put .window(..) before .aggregate(..)');
    return UNRESOLVED;
  }
  const nodes = plainArguments(call, context);
  const split = aggregate.constantsFrom ?? nodes.length;
  const values = nodes.slice(0, split).map((argument) => lower(argument, rows));
  const constants = splitConstants(call.arguments.slice(split), rowsPlace(collector, lower));
  reportArguments({ name: call.name, aggregate, span: node.span, types: values.map(({ type }) => type), constants }, context);
  const types = [...values, ...constants].map(({ type }) => type);
  const filter = written.filter && lowerBool(written.filter, rows, context);
  const collected = { function: aggregate.name, arguments: values, constants: constants.map(({ value }) => value ?? null), filter };
  return { kind: 'aggregate', index: indexOf(collected, collector), type: aggregate.result(types) };
}

function plainArguments(call: NamedCall, context: CheckContext): Expression[] {
  return call.arguments.flatMap(({ name, value, span }) => {
    if (name) context.report('E071', name.span, 'arguments of aggregates have no names');
    if (isExpression(value)) return [value];
    context.report('E071', span, `\`${call.name}\` takes expressions`);
    return [];
  });
}

function rowsPlace({ rows, context }: Collector, lower: Lower): Place {
  return {
    scope: rows,
    context,
    lower: (node, scope = rows) => lower(node, scope),
    lowerBool: (node, scope = rows) => lowerBool(node, scope, context),
    lowerLambda: () => {
      throw new Error('a constant argument is no lambda');
    },
  };
}

/** Functions whose bodies are alike have one fingerprint; where they declare different results, calls of them are two all the same. */
function indexOf(call: AggregateCall, { calls, places, context }: Collector): number {
  const identity = context.fingerprint(call);
  const known = places.get(identity) ?? [];
  const place = known.find((at) => takesSame(calls[at] as AggregateCall, call)) ?? calls.push(call) - 1;
  if (!known.includes(place)) places.set(identity, [...known, place]);
  return place;
}

function takesSame({ arguments: left }: AggregateCall, { arguments: right }: AggregateCall): boolean {
  return left.every(({ type }, at) => promiseSame(type, right[at]?.type ?? ANY));
}
