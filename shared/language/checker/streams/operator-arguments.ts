import { durationText } from '../../../events/time-text.ts';
import { Duration, type Value } from '../../../events/value.ts';
import type { Argument, Expression, Identifier, OperatorCall } from '../../ast/nodes.ts';
import { timerRange } from '../../connectors/parameter-problem.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import type { OperatorDescriptor, OperatorParameter } from '../../operators/descriptor.ts';
import { constantDurationMs, requireConstant } from '../constants.ts';
import type { CheckContext } from '../context.ts';
import { durationHint, expressionOf } from '../lower.ts';
import type { NameScope } from '../scope.ts';

/** An operator call with its arguments sorted by the parameters they are for. */
export interface BoundCall {
  readonly node: OperatorCall;
  readonly descriptor: OperatorDescriptor;
  readonly context: CheckContext;
  /** By the parameter's first name. */
  readonly given: ReadonlyMap<string, Argument>;
  /** What the descriptor's `rest` takes, in written order. */
  readonly rest: readonly Argument[];
  /** What bare names mean where the call stands. */
  readonly rows?: () => NameScope;
}

/** Sorts the arguments of a call; reports unknown (E080), repeated (E081) and missing (E082) ones. */
export function bindArguments(node: OperatorCall, descriptor: OperatorDescriptor, context: CheckContext): BoundCall {
  const given = new Map<string, Argument>();
  const rest: Argument[] = [];
  const positional = descriptor.parameters.filter((parameter) => parameter.positional);
  let position = 0;
  for (const argument of node.arguments) {
    const parameter = argument.name ? named(descriptor, argument.name.text) : positional[position++];
    if (!parameter) takeRest(argument, { descriptor, context, rest });
    else if (given.has(parameter.name)) context.report('E081', argument.span, `\`${parameter.name}\` is given twice`);
    else given.set(parameter.name, argument);
    refuseOrder(argument, descriptor, context);
  }
  reportMissing({ node, descriptor, context, given, rest });
  if (node.as && descriptor.name !== 'emit') context.report('E080', node.as.span, `\`.${descriptor.name}\` takes no \`as\``);
  return { node, descriptor, context, given, rest };
}

function named(descriptor: OperatorDescriptor, name: string): OperatorParameter | undefined {
  return descriptor.parameters.find((parameter) => parameter.name === name || parameter.aliases?.includes(name));
}

interface RestTarget {
  readonly descriptor: OperatorDescriptor;
  readonly context: CheckContext;
  readonly rest: Argument[];
}

function takeRest(argument: Argument, { descriptor, context, rest }: RestTarget): void {
  const form = descriptor.rest?.form;
  const written = `.${descriptor.name}`;
  if (argument.name && (form === 'named' || form === 'either')) rest.push(argument);
  else if (!argument.name && (form === 'positional' || form === 'either')) rest.push(argument);
  else if (argument.name) reportUnknown(argument.name, descriptor, context);
  else if (form === 'named')
    context.report('E082', argument.span, `an argument of \`${written}\` needs a name`, `write \`name: ${context.text(argument.span)}\``);
  else context.report('E080', argument.span, `\`${written}\` takes ${countText(descriptor)} without a name`, namedOnlyHint(descriptor));
}

function countText(descriptor: OperatorDescriptor): string {
  const count = descriptor.parameters.filter((parameter) => parameter.positional).length;
  if (count === 0) return 'no argument';
  return count === 1 ? 'one argument' : `${count} arguments`;
}

function namedOnlyHint(descriptor: OperatorDescriptor): string | undefined {
  const names = descriptor.parameters.filter((parameter) => !parameter.positional).map((parameter) => `\`${parameter.name}:\``);
  return names.length > 0 ? `it also takes ${names.join(', ')}` : undefined;
}

function reportUnknown(name: Identifier, descriptor: OperatorDescriptor, context: CheckContext): void {
  const known = descriptor.parameters.flatMap((parameter) => [parameter.name, ...(parameter.aliases ?? [])]);
  const nearest = nearestName(name.text, known);
  const list = known.length > 0 ? `it takes ${known.map((each) => `\`${each}\``).join(', ')}` : 'it takes none';
  context.report(
    'E080',
    name.span,
    `\`.${descriptor.name}\` has no parameter \`${name.text}\``,
    nearest ? `did you mean \`${nearest}\`?` : list,
  );
}

function refuseOrder(argument: Argument, descriptor: OperatorDescriptor, context: CheckContext): void {
  if (argument.order && descriptor.name !== 'order_by') {
    context.report('E081', argument.span, `\`${argument.order}\` belongs to \`.order_by\`, not to \`.${descriptor.name}\``);
  }
}

function reportMissing({ node, descriptor, context, given, rest }: BoundCall): void {
  for (const { name, required, summary, positional } of descriptor.parameters) {
    if (!required || given.has(name)) continue;
    const written = positional
      ? `\`.${descriptor.name}\` needs an argument: ${summary}`
      : `\`.${descriptor.name}\` needs \`${name}:\`, ${summary}`;
    context.report('E082', node.span, written);
  }
  const missing = descriptor.rest && rest.length < descriptor.rest.min;
  if (missing) context.report('E082', node.span, `\`.${descriptor.name}\` needs an argument: ${descriptor.rest?.summary}`);
}

/** The expression given for a parameter; undefined when there is none or it is no expression (reported). */
export function expressionFor(call: BoundCall, name: string): Expression | undefined {
  const argument = call.given.get(name);
  return argument && expressionOf(argument, call.context);
}

/** A constant duration in ms, not negative; undefined when absent or wrong (E061). */
export function durationFor(call: BoundCall, name: string, least: 'zero' | 'positive' = 'positive'): number | undefined {
  const node = expressionFor(call, name);
  const ms = node && constantDurationMs(node, call.context, call.rows);
  if (node === undefined || ms === undefined) return undefined;
  if (ms > 0 || (ms === 0 && least === 'zero')) return ms;
  call.context.report('E081', node.span, `\`${name}\` must be ${least === 'zero' ? 'at least 0s' : 'more than 0s'}`);
  return undefined;
}

/** The same for what a timer of the process waits for. */
export function timerFor(call: BoundCall, name: string): number | undefined {
  const ms = durationFor(call, name);
  if (ms === undefined || ms <= timerRange.max) return ms;
  call.context.report('E081', call.given.get(name)?.span ?? call.node.span, `\`${name}\` must be at most ${durationText(timerRange.max)}`);
  return undefined;
}

/** A constant whole number of at least 1. */
export function countFor(call: BoundCall, name: string): number | undefined {
  const node = expressionFor(call, name);
  return node && countOf(node, name, call);
}

function countOf(node: Expression, name: string, { context, rows }: BoundCall): number | undefined {
  const value = requireConstant(node, context, { code: 'E081', what: `\`${name}\``, rows });
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  context.report('E081', node.span, `\`${name}\` must be a whole number of at least 1`);
  return undefined;
}

/** A duration in ms or a number of events. */
export type Size = { readonly kind: 'time'; readonly ms: number } | { readonly kind: 'count'; readonly count: number };

export function sizeFor(call: BoundCall, name: string): Size | undefined {
  const node = expressionFor(call, name);
  const value = node && requireConstant(node, call.context, { code: 'E081', what: `\`${name}\``, rows: call.rows });
  if (node === undefined || value === undefined) return undefined;
  if (value instanceof Duration && value.ms > 0) return { kind: 'time', ms: value.ms };
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return { kind: 'count', count: value };
  call.context.report(
    'E081',
    node.span,
    `\`${name}\` must be a duration of more than 0s (\`5m\`) or a whole number of at least one event`,
    durationHint(value),
  );
  return undefined;
}

/** One of the words of a parameter, written bare or as a string. */
export function wordFor(call: BoundCall, name: string): string | undefined {
  const words = named(call.descriptor, name)?.words ?? [];
  const node = expressionFor(call, name);
  const value = node && wordOf(node, name, { words, context: call.context });
  if (node === undefined || value === undefined || (typeof value === 'string' && words.includes(value))) return value as string | undefined;
  const nearest = typeof value === 'string' ? nearestName(value, words) : undefined;
  const list = `it is one of ${words.map((word) => `\`${word}\``).join(', ')}`;
  call.context.report(
    'E081',
    node.span,
    `\`${name}\` cannot be \`${call.context.text(node.span)}\``,
    nearest ? `did you mean \`${nearest}\`?` : list,
  );
  return undefined;
}

function wordOf(
  node: Expression,
  name: string,
  { words, context }: { readonly words: readonly string[]; readonly context: CheckContext },
): Value | undefined {
  if (node.kind === 'NullLiteral') return 'null';
  return requireConstant(node, context, { code: 'E081', what: `\`${name}\``, words });
}

export function flagFor(call: BoundCall, name: string): boolean | undefined {
  return constantFor(call, name, { what: 'true or false', is: (value) => typeof value === 'boolean' });
}

export function textFor(call: BoundCall, name: string): string | undefined {
  return constantFor(call, name, { what: 'a text', is: (value) => typeof value === 'string' });
}

/** A constant number from 0 to 1. */
export function ratioFor(call: BoundCall, name: string): number | undefined {
  return constantFor(call, name, { what: 'a number from 0 to 1', is: (value) => typeof value === 'number' && value >= 0 && value <= 1 });
}

interface Expected {
  readonly what: string;
  readonly is: (value: Value) => boolean;
}

/** A constant that satisfies `is`; E081 for any other. */
export function constantFor<T extends Value>(call: BoundCall, name: string, { what, is }: Expected): T | undefined {
  const node = expressionFor(call, name);
  const value = node && requireConstant(node, call.context, { code: 'E081', what: `\`${name}\``, rows: call.rows });
  if (node === undefined || value === undefined) return undefined;
  if (is(value)) return value as T;
  call.context.report('E081', node.span, `\`${name}\` must be ${what}`);
  return undefined;
}

/** The name of a field, written bare or as a string. */
export function fieldFor(call: BoundCall, name: string): string | undefined {
  const node = expressionFor(call, name);
  if (!node) return undefined;
  const field = fieldName(node);
  if (field === undefined) call.context.report('E081', node.span, `\`${name}\` must be the name of a field`);
  return field;
}

function fieldName(node: Expression): string | undefined {
  if (node.kind === 'Name') return node.name;
  return node.kind === 'StringLiteral' ? node.value : undefined;
}

/** Names in brackets, bare or as strings; one name may stand alone. */
export function namesFor(call: BoundCall, name: string): readonly string[] | undefined {
  const node = expressionFor(call, name);
  if (!node) return undefined;
  const items = node.kind === 'ArrayLiteral' ? node.items : [node];
  const names = items.map((item) => {
    const text = fieldName(item);
    if (text === undefined) call.context.report('E081', item.span, `\`${name}\` takes names of fields: \`[a, b]\``);
    return text;
  });
  return names.filter((each) => each !== undefined);
}

/** The items of an array literal as unnamed arguments; a lone expression counts as one, a map's members are named. */
export function itemsFor(call: BoundCall, name: string): readonly Argument[] {
  const node = expressionFor(call, name);
  if (!node) return [];
  if (node.kind === 'MapLiteral') {
    return node.entries.map(({ key, value, span, quoted }) => asArgument(value, { kind: 'Identifier', span, text: key, quoted }));
  }
  return (node.kind === 'ArrayLiteral' ? node.items : [node]).map((value) => asArgument(value, null));
}

function asArgument(value: Expression, name: Identifier | null): Argument {
  return { kind: 'Argument', span: value.span, name, value, order: null };
}
