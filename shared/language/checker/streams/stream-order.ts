import type { Argument, Identifier, OperatorCall, Pattern, PatternElement, StreamSource } from '../../ast/nodes.ts';
import { visitPattern } from '../../ast/nodes.ts';
import type { CheckContext } from '../context.ts';
import { dotted, type StreamSymbol } from '../symbols.ts';
import { findReference } from './references.ts';

/**
 * The streams upstream first, else in order of declaration. Each cycle is reported once (E008) at its first declared stream;
 * its members then come in order of declaration, so that a stream in a cycle may come before one it names.
 */
export function orderStreams(context: CheckContext): readonly StreamSymbol[] {
  const order = new Set<StreamSymbol>();
  const ordering: Ordering = { order, reported: new Set(), context, ofEvents: new Map(), withoutNot: null };
  for (const stream of context.table.streams) {
    if (!order.has(stream)) placeWithUpstream(stream, ordering);
  }
  return [...order];
}

interface Ordering {
  readonly order: Set<StreamSymbol>;
  readonly reported: Set<StreamSymbol>;
  readonly context: CheckContext;
  /** Sources that name no stream, by what they name: those that a loop repeats are the same for all its streams. */
  readonly ofEvents: Map<StreamSource, string>;
  /** The written operators that were looked at last and of which none is a `.not(..)`: streams of a loop share them. */
  withoutNot: readonly OperatorCall[] | null;
}

/** Depth first with a stack of its own: a program may chain more streams than calls fit on the machine's stack. */
function placeWithUpstream(start: StreamSymbol, ordering: Ordering): void {
  const { order, reported, context, ofEvents } = ordering;
  const { source } = start.node;
  const known = ofEvents.get(source);
  if (known !== undefined && known !== start.name && hasNoNot(start, ordering)) {
    order.add(start);
    return;
  }
  const upstream = upstreamOf(start, context);
  if (upstream.length === 0) {
    order.add(start);
    if (source.kind === 'NamedSource' && dotted(source.path) !== start.name) ofEvents.set(source, dotted(source.path));
    return;
  }
  const open = new Map([[start, upstream[Symbol.iterator]()]]);
  const path = [start];
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const next = open.get(top)?.next();
    if (!next || next.done) {
      open.delete(top);
      order.add(top);
      path.pop();
    } else if (open.has(next.value)) reportCycle(path.slice(path.indexOf(next.value)), reported, context);
    else if (!order.has(next.value)) {
      open.set(next.value, upstreamOf(next.value, context)[Symbol.iterator]());
      path.push(next.value);
    }
  }
}

function hasNoNot({ node }: StreamSymbol, ordering: Ordering): boolean {
  const written = ordering.context.writtenOperators(node);
  if (written === ordering.withoutNot) return true;
  if (written.some(isNot)) return false;
  ordering.withoutNot = written;
  return true;
}

function reportCycle(cycle: readonly StreamSymbol[], reported: Set<StreamSymbol>, context: CheckContext): void {
  if (cycle.some((stream) => reported.has(stream))) return;
  for (const stream of cycle) reported.add(stream);
  const first = cycle.reduce((a, b) => (b.index < a.index ? b : a));
  const at = cycle.indexOf(first);
  const around = [...cycle.slice(at), ...cycle.slice(0, at), first].map((stream) => `\`${stream.name}\``);
  const message =
    cycle.length === 1 ? `stream \`${first.name}\` depends on itself` : `streams depend on each other: ${around.join(' needs ')}`;
  context.in(first.module).report('E008', first.node.name.span, message, 'a stream may feed itself only through a connector');
}

/** The streams that a stream names, in written order. */
function upstreamOf(stream: StreamSymbol, context: CheckContext): readonly StreamSymbol[] {
  const here = context.in(stream.module);
  const found = new Set<StreamSymbol>();
  const name = (path: readonly Identifier[], at: CheckContext): void => {
    const reference = findReference(path, stream, at);
    if (reference?.kind === 'pattern') {
      const { symbol } = reference;
      namesOfPattern(symbol.node.pattern, (inner) => stepName(inner, at.in(symbol.module)));
    } else stepName(path, at);
  };
  const stepName = (path: readonly Identifier[], at: CheckContext): void => {
    const reference = findReference(path, stream, at);
    if (reference && reference.kind !== 'event' && reference.kind !== 'pattern') found.add(reference.symbol);
  };
  namesOfSource(stream.node.source, (path) => name(path, here));
  for (const operator of stream.node.operators) {
    if (isNot(operator)) for (const argument of operator.arguments) namesOfStep(argument, (path) => stepName(path, here));
  }
  return [...found];
}

function isNot({ name }: OperatorCall): boolean {
  return name.text === 'not';
}

type Visit = (path: readonly Identifier[]) => void;

function namesOfSource(source: StreamSource, visit: Visit): void {
  if (source.kind === 'NamedSource') visit(source.path);
  else if (source.kind === 'PatternSource') namesOfPattern(source.pattern, visit);
  else if (source.kind !== 'TimerSource') for (const input of source.inputs) visit(input.source.path);
}

function namesOfPattern(pattern: Pattern, visit: Visit): void {
  namesOfElement(pattern.body, visit);
}

function namesOfElement(element: PatternElement, visit: Visit): void {
  const all = ({ items }: { readonly items: readonly PatternElement[] }): void => {
    for (const item of items) namesOfElement(item, visit);
  };
  visitPattern<void>(element, {
    StepElement: (step) => visit(step.type),
    GroupElement: (group) => namesOfPattern(group.pattern, visit),
    SequenceElement: all,
    NoneElement: all,
    AndElement: all,
    OrElement: all,
  });
}

function namesOfStep({ value }: Argument, visit: Visit): void {
  const path = stepPath(value);
  if (path) visit(path);
}

/** The type named by the argument of `.not(..)`: `X`, `common.X`, `X where e`. */
export function stepPath(value: Argument['value']): readonly Identifier[] | undefined {
  if (value.kind === 'StepArgument') return splitName(value.type);
  if (value.kind === 'Name') return [{ kind: 'Identifier', span: value.span, text: value.name, quoted: value.quoted }];
  if (value.kind !== 'Member') return undefined;
  const head = stepPath(value.object);
  return head && [...head, value.name];
}

/** A dotted name kept as one identifier, as a path. */
function splitName(name: Identifier): readonly Identifier[] {
  return name.quoted ? [name] : name.text.split('.').map((text) => ({ ...name, text }));
}
