import type { Identifier, NamedSource, OperatorCall, SourceInput } from '../../ast/nodes.ts';
import { findOperator } from '../../operators/table.ts';
import type { InputPlan, OperatorPlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import type { RowShape } from '../scope.ts';
import { eventShape, openShape } from '../scopes.ts';
import { positionOf, refusePlace, reportUnknownOperator } from './chain.ts';
import { connectorFor, declaredTopic, parametersFor, topicIn } from './connector-uses.ts';
import { bindArguments, textFor } from './operator-arguments.ts';
import type { LowerOperator } from './operators/position.ts';
import { lowerHaving, lowerMap, lowerSelect, lowerWhere } from './operators/rows.ts';
import { newPartition } from './partition.ts';
import type { StreamDraft } from './program-streams.ts';
import { type Reference, resolveReference, spanOf } from './references.ts';
import { plainStage, type Stage } from './stage.ts';

/** What one name gives: its plan and its rows. */
export interface Input {
  readonly plan: InputPlan;
  readonly stage: Stage;
  readonly reference: Reference;
}

const rowOperators: Readonly<Record<string, LowerOperator>> = {
  where: lowerWhere,
  having: lowerHaving,
  select: lowerSelect,
  map: lowerMap,
};

/** The events, stream, late events or branch that a path names; undefined for a named pattern and for what is wrong (both reported). */
export function resolveInput(path: readonly Identifier[], draft: StreamDraft, context: CheckContext): Input | undefined {
  const reference = resolveReference(path, draft.symbol, context);
  if (!reference) return undefined;
  if (reference.kind === 'pattern') {
    const hint = `give its matches a stream: \`stream S = ${reference.symbol.name}\`, and name that`;
    context.report('E033', spanOf(path), `\`${reference.symbol.name}\` is a pattern, not an event or stream`, hint);
    return undefined;
  }
  return inputOf(reference, path, { draft, context });
}

interface Where {
  readonly draft: StreamDraft;
  readonly context: CheckContext;
}

/** As `resolveInput` for a name that is resolved. */
function inputOf(reference: Exclude<Reference, { kind: 'pattern' }>, path: readonly Identifier[], { draft, context }: Where): Input {
  const name = (path.at(-1) as Identifier).text;
  if (reference.kind === 'event') return eventInput(reference, path, { draft, context });
  const { symbol } = reference;
  const result = draft.program.results.get(symbol.index);
  const shape = result?.shape ?? openShape(symbol.name);
  if (reference.kind === 'branch') {
    const branch = result?.branches.get(reference.branch);
    const from = { kind: 'branch', stream: symbol.index, branch: reference.branch } as const;
    return { reference, plan: { name, from, operators: [] }, stage: plainStage(branch?.shape ?? shape, [], branch?.carries ?? []) };
  }
  if (reference.kind === 'late') {
    refuseLate(reference, path, { draft, context });
    return {
      reference,
      plan: { name, from: { kind: 'late', stream: symbol.index }, operators: [] },
      stage: plainStage(result?.late ?? shape, [], []),
    };
  }
  const carries = result?.carries ?? [symbol.name];
  return {
    reference,
    plan: { name, from: { kind: 'stream', stream: symbol.index }, operators: [] },
    stage: plainStage(shape, [], carries),
  };
}

function eventInput(
  { type, symbol }: Extract<Reference, { kind: 'event' }>,
  path: readonly Identifier[],
  { draft, context }: Where,
): Input {
  const [first] = (draft.program.emittedTypes.get(type) ?? []).filter((stream) => stream !== draft.symbol.name);
  if (first !== undefined) {
    const message = `\`${type}\` is emitted by stream \`${first}\`, whose results reach only streams that name \`${first}\``;
    context.report('W036', spanOf(path), message, `write \`${first}\` to read them; \`${type}\` reads events from outside`);
  }
  const from = { kind: 'event', type, types: symbol?.types ?? [type] } as const;
  const shape = symbol ? eventShape(symbol) : openShape(type);
  const name = (path.at(-1) as Identifier).text;
  return { reference: { kind: 'event', type, symbol }, plan: { name, from, operators: [] }, stage: plainStage(shape, [], [type]) };
}

/** Patterns and joins tell late from early only when they hold events back; where nothing waits for time, nothing does. */
function refuseLate({ symbol }: Extract<Reference, { kind: 'late' }>, path: readonly Identifier[], { draft, context }: Where): void {
  const plan = draft.program.results.get(symbol.index)?.plan;
  if (!plan) return;
  if (plan.source.kind !== 'pattern' && plan.source.kind !== 'join') {
    if (plan.operators.some(judgesTime)) return;
    const message = `stream \`${symbol.name}\` has no window, aggregate, pattern or join, so nothing is late for it`;
    context.report(
      'E021',
      spanOf(path),
      message,
      `read \`${symbol.name}\`, which takes every event, or the \`.late\` of the stream with the window`,
    );
  } else if (plan.time.outOfOrderMs === 0) {
    const message = `stream \`${symbol.name}\` is a ${plan.source.kind} without \`out_of_order\`, so nothing is late for it`;
    context.report('E021', spanOf(path), message, `add \`.watermark(out_of_order: 10s)\` to \`${symbol.name}\``);
  }
}

function judgesTime(operator: OperatorPlan): boolean {
  if (operator.kind === 'fork') return operator.branches.some(({ operators }) => operators.some(judgesTime));
  return ['window', 'window_aggregate', 'aggregate', 'trend_aggregate'].includes(operator.kind);
}

/** An input of a merge or join with its own operators, which act row by row. `operators` are those left for it. */
export function lowerSourceInput(input: SourceInput, operators: readonly OperatorCall[], { draft, context }: Where): Input | undefined {
  const resolved = resolveInput(input.source.path, draft, context);
  if (!resolved) return undefined;
  const [name = resolved.plan.name, ...others] = inputNames(input);
  let stage: Stage = { ...resolved.stage, rows: aliased(resolved.stage, [name, ...others]) };
  const plans: OperatorPlan[] = [];
  for (const node of operators) {
    if (node.name.text === 'from') bindSource(node, resolved.reference, context, draft);
    else {
      const lowered = lowerRowOperator(node, stage, { draft, context });
      plans.push(...lowered.plans);
      stage = lowered.stage;
    }
  }
  return { reference: resolved.reference, plan: { ...resolved.plan, name, operators: plans }, stage };
}

/** What the program calls an input: `stream C = ..`, then its alias, then the last part of what it names. */
export function inputNames({ name, source }: SourceInput): readonly string[] {
  const given = [name?.text, source.alias?.text].filter((text) => text !== undefined);
  return given.length > 0 ? given : [source.path.at(-1)?.text ?? ''];
}

function lowerRowOperator(node: OperatorCall, stage: Stage, { draft, context }: Where): ReturnType<LowerOperator> {
  const descriptor = findOperator(node.name.text);
  const lower = descriptor && rowOperators[descriptor.name];
  if (!descriptor) reportUnknownOperator(node, context);
  else if (!lower && descriptor.places.includes('stream')) {
    context.report('E092', node.span, `\`.${descriptor.name}\` cannot stand on an input`, 'declare a stream with it and name that here');
  } else if (!lower) refusePlace(node, descriptor, context);
  if (!descriptor || !lower) return { plans: [], stage };
  return lower(positionOf(node, descriptor, { stage, partition: newPartition([], null), draft, context }));
}

function aliased(stage: Stage, aliases: readonly string[]): Stage['rows'] {
  return stage.rows.kind === 'plain' ? { ...stage.rows, aliases } : stage.rows;
}

/** `X.from(Conn, topic: "t", ..)`. */
export function bindSource(node: OperatorCall, reference: Reference, context: CheckContext, draft: StreamDraft): void {
  const descriptor = findOperator('from');
  if (!descriptor) return;
  const call = bindArguments(node, descriptor, context);
  const connector = connectorFor(call, 'source');
  const given = textFor(call, 'topic');
  if (reference.kind !== 'event') {
    context.report('E092', node.span, '`.from` reads an event type, and this source is none', 'name the event type: `X.from(..)`');
    return;
  }
  if (!connector) return;
  const parameters = new Map(parametersFor(call, connector));
  const topic = given ?? topicIn(parameters, connector.descriptor) ?? declaredTopic(connector);
  if (topic === undefined && connector.descriptor?.broker && !connector.registered) {
    context.report('E082', node.span, `\`.from(${connector.name})\` needs a topic`, `write \`topic: "name"\`, or give the connector one`);
    return;
  }
  if (given !== undefined) parameters.set('topic', given);
  draft.program.sources.bind({ connector: connector.name, topic: topic ?? null, parameters, eventType: reference.type });
}

/** A named source without operators: its input, readable through its alias. */
export function namedInput(source: NamedSource, reference: Exclude<Reference, { kind: 'pattern' }>, where: Where): Input {
  const input = inputOf(reference, source.path, where);
  return { ...input, stage: { ...input.stage, rows: aliased(input.stage, source.alias ? [source.alias.text] : []) } };
}

/** Fields that rows of any of these inputs may have. */
export function shapesOf(inputs: readonly Input[]): readonly RowShape[] {
  const shapes: RowShape[] = [];
  for (const { stage } of inputs) if (stage.rows.kind === 'plain') shapes.push(stage.rows.shape);
  return shapes;
}
