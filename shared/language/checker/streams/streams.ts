import { limits } from '../../../limits.ts';
import type { OperatorCall, PatternDeclaration, StreamDeclaration } from '../../ast/nodes.ts';
import { nearestName } from '../../diagnostics/nearest-name.ts';
import { findOperator } from '../../operators/table.ts';
import type { OperatorPlan, SourceBinding, StreamPlan } from '../../plan/plan.ts';
import { ANY, isNumeric, printType, type RecordType, type Type } from '../../plan/types.ts';
import { ProgramTooLarge } from '../budget.ts';
import type { CheckContext } from '../context.ts';
import type { RowShape } from '../scope.ts';
import { fieldOf } from '../shapes.ts';
import type { StreamSymbol } from '../symbols.ts';
import { resolveType } from '../type-expressions.ts';
import { lowerChain, positionOf } from './chain.ts';
import { checkConnectors } from './connector-uses.ts';
import { addDefaultSink } from './default-sink.ts';
import { emittedTypes } from './emitted-types.ts';
import { countFields } from './field-count.ts';
import { lowerSource, type StreamStart } from './lowered-sources.ts';
import { lowerForecast } from './operators/analytics.ts';
import { canFit } from './operators/rows.ts';
import { partitionPlan, resolvePartition } from './partition.ts';
import { buildElements } from './patterns/elements.ts';
import { lowerTrendAggregate } from './patterns/trends.ts';
import type { Lowered, ProgramStreams, StreamDraft, StreamResult } from './program-streams.ts';
import { RepeatedStreams } from './repeated-streams.ts';
import { sourceRegistry } from './source-bindings.ts';
import { givenShape, type Stage, scopeOf, typeOfShape } from './stage.ts';
import { orderStreams } from './stream-order.ts';

export interface StreamsResult {
  /** In the order of `context.table.streams`. */
  readonly streams: readonly StreamPlan[];
  /** `sources[0]` is the default input. */
  readonly sources: readonly SourceBinding[];
}

/** How far ahead a forecast looks when neither it nor the pattern says. */
const DEFAULT_HORIZON_MS = 60_000;

/**
 * All streams of the merged program. `context` looks at the main file; a stream's own nodes are checked with
 * `context.in(stream.module)`. Never throws; what cannot be planned is reported, and stands in as well as it can.
 */
export function checkStreams(context: CheckContext): StreamsResult {
  checkConnectors(context);
  const program: ProgramStreams = { results: new Map(), sources: sourceRegistry(context), emittedTypes: emittedTypes(context) };
  const repeated = new RepeatedStreams((symbol) => planStream(symbol, program, context), program, context);
  for (const symbol of orderStreams(context)) program.results.set(symbol.index, repeated.resultOf(symbol));
  checkUnusedPatterns(program, context);
  const streams = context.table.streams.flatMap(({ index }) => program.results.get(index)?.plan ?? []);
  return { streams, sources: program.sources.bindings() };
}

/** Rows go from operator to operator by calls, so their number is bounded. */
function refuseLongChain({ node }: StreamSymbol, context: CheckContext): void {
  const found = operatorsIn(node.operators);
  if (found <= limits.streamOperatorsMax) return;
  const message = `the stream has ${found} operators, and at most ${limits.streamOperatorsMax} can stand in one`;
  context.report(
    'E095',
    node.name.span,
    message,
    'divide it: `stream Next = This.where(..)`; several conditions stand in one `.where(a and b)`',
  );
  throw new ProgramTooLarge('operators');
}

/** With those in the branches of forks. */
function operatorsIn(operators: readonly OperatorCall[]): number {
  let count = operators.length;
  for (const operator of operators) {
    for (const { value } of operator.arguments) if (value.kind === 'Chain') count += operatorsIn(value.operators);
  }
  return count;
}

function newDraft(symbol: StreamSymbol, program: ProgramStreams, context: CheckContext): StreamDraft {
  return { context, program, symbol, branches: new Map(), branchNames: new Set() };
}

function planStream(symbol: StreamSymbol, program: ProgramStreams, root: CheckContext): StreamResult {
  const context = root.in(symbol.module);
  refuseLongChain(symbol, context);
  const draft = newDraft(symbol, program, context);
  const start = lowerSource(draft);
  const { partition, time, onError } = start.settings;
  checkTimeField(start, context);
  const { plans, stage } = lowerOperators(start, draft);
  resolvePartition(partition, () => scopeOf(start.stage));
  const given = givenShape(stage, symbol.node.name.span, context);
  const declared = declaredTypeOf(symbol.node, given, context);
  const typed = declared ? withDeclared(given, declared, plans) : given;
  const shape = describe(typed, symbol);
  countFields([shape], symbol.node.name.span, context);
  const plan: StreamPlan = {
    name: symbol.name,
    source: start.plan,
    operators: addDefaultSink(plans, context),
    partition: partitionPlan(partition),
    time,
    onError,
    resultType: typeOfShape(typed, declared?.name ?? symbol.name),
    ...(declared && { declaredType: declared }),
    origin: context.origin(symbol.node.span),
  };
  return { plan, shape, carries: stage.carries, branches: draft.branches, late: start.late };
}

/** What a declared result type has besides reads null, or of rows that are open whatever they have. */
function withDeclared(shape: RowShape, type: RecordType, plans: readonly OperatorPlan[]): RowShape {
  if (type.fields === shape.fields) return shape;
  const fields = shape.fields.map((field) => {
    const wanted = type.fields.find(({ name }) => name === field.name)?.type;
    const isConverted = field.type.kind === 'duration' && wanted !== undefined && isNumeric(wanted);
    return isConverted ? { ...field, type: convertedType(field.type, wanted, plans) } : field;
  });
  const names = new Set(fields.map(({ name }) => name));
  const others = type.fields.filter(({ name }) => !names.has(name));
  return {
    ...shape,
    fields: [...fields, ...others.map(({ name, type: own }) => ({ name, type: shape.open ? ANY : own, optional: true }))],
  };
}

/** A duration in a field of numbers is its milliseconds once it is emitted. */
function convertedType(type: Type, wanted: Type, plans: readonly OperatorPlan[]): Type {
  const last = plans.findLast(({ kind }) => SHAPING.has(kind))?.kind;
  if (last === 'emit') return wanted;
  return plans.some(({ kind }) => kind === 'emit' || kind === 'fork') ? ANY : type;
}

/** What fields a row has behind them is their doing. */
const SHAPING: ReadonlySet<OperatorPlan['kind']> = new Set(['select', 'map', 'emit', 'aggregate', 'window_aggregate', 'process', 'fork']);

const times = new Set(['timestamp', 'int', 'float', 'str', 'any']);

/** `.watermark(on: f)`: some event of the source has f, and it can be a time. */
function checkTimeField({ settings: { timeField }, late }: StreamStart, context: CheckContext): void {
  if (!timeField) return;
  const { name, span } = timeField;
  const field = fieldOf(late, name);
  if (!field && !late.open) {
    const names = late.fields.filter(({ type }) => type.kind === 'timestamp').map((each) => each.name);
    const nearest =
      nearestName(
        name,
        late.fields.map((each) => each.name),
      ) ?? names[0];
    context.report('E034', span, `${late.description} has no field \`${name}\``, nearest && `did you mean \`${nearest}\`?`);
  } else if (field && !times.has(field.type.kind)) {
    context.report(
      'E062',
      span,
      `\`${name}\` is ${printType(field.type)}, which is no time`,
      'a time is a timestamp, a number of seconds or milliseconds, or ISO 8601',
    );
  }
}

/** How followers call the rows; an emitted declared event keeps its own name. */
function describe(shape: RowShape, { name }: StreamSymbol): RowShape {
  return shape.event ? shape : { ...shape, description: `stream \`${name}\`` };
}

function lowerOperators(start: StreamStart, draft: StreamDraft): Lowered<Stage> {
  const { partition } = start.settings;
  const { context } = draft;
  const common = { partition, draft, inBranch: false };
  const prefix = start.prefix
    ? lowerChain({ ...common, calls: start.prefix.operators, stage: start.stage, context: start.prefix.context })
    : { plans: [], stage: start.stage };
  const special = lowerFirstOfPattern(start, draft);
  const rest = lowerChain({
    ...common,
    calls: special ? start.operators.slice(1) : start.operators,
    stage: special?.stage ?? prefix.stage,
    context,
  });
  const plans: readonly OperatorPlan[] = [...prefix.plans, ...(special?.plans ?? []), ...rest.plans];
  return { plans, stage: rest.stage };
}

/** `.trend_aggregate` and `.forecast` work on the pattern itself, so they stand right behind it. */
function lowerFirstOfPattern(
  { pattern, operators: [first], stage, settings: { partition } }: StreamStart,
  draft: StreamDraft,
): Lowered<Stage> | undefined {
  const descriptor = first && findOperator(first.name.text);
  if (!pattern || !first || descriptor?.family !== 'analytics') return undefined;
  const at = positionOf(first, descriptor, { stage, partition, draft, context: draft.context });
  if (descriptor.name === 'forecast') return lowerForecast(at, pattern.withinMs ?? DEFAULT_HORIZON_MS);
  if (descriptor.name !== 'trend_aggregate') return undefined;
  return lowerTrendAggregate(at, { bindings: pattern.bindings, windowMs: pattern.trendWindowMs ?? 1 });
}

/** `stream X: T`: what the results are, when they fit (E062). */
function declaredTypeOf({ type: written }: StreamDeclaration, shape: RowShape, context: CheckContext): RecordType | undefined {
  if (!written) return undefined;
  const { type } = resolveType(written, context);
  if (type.kind === 'any') return undefined;
  if (type.kind !== 'record') {
    context.report('E062', written.span, `the results of a stream are events, not ${printType(type)}`, 'name an event or a record type');
    return undefined;
  }
  for (const field of type.fields) {
    const found = fieldOf(shape, field.name);
    if (!found && !shape.open && !field.optional) {
      context.report('E062', written.span, `the results have no field \`${field.name}\`, which \`${type.name}\` declares`);
    } else if (found && !canFit(found.type, field.type)) {
      const message = `field \`${field.name}\` of \`${type.name}\` is ${printType(field.type)}, the results have ${printType(found.type)}`;
      context.report('E062', written.span, message);
    }
  }
  return type;
}

/** A named pattern that no stream names is checked all the same. */
function checkUnusedPatterns(program: ProgramStreams, root: CheckContext): void {
  for (const { used, node, module, name, source } of root.table.patterns) {
    if (used) continue;
    const context = root.in(module);
    const symbol: StreamSymbol = { kind: 'stream', name, node: asStream(node), source, module, index: -1, used: true };
    buildElements(node.pattern.body, newDraft(symbol, program, context), context);
  }
}

function asStream({ name, pattern, span }: PatternDeclaration): StreamDeclaration {
  return {
    kind: 'StreamDeclaration',
    span,
    name,
    type: null,
    source: { kind: 'PatternSource', span, form: 'arrow', pattern },
    operators: [],
  };
}
