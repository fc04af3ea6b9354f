import type { JoinSource, OperatorCall, SourceInput } from '../../ast/nodes.ts';
import { findOperator } from '../../operators/table.ts';
import type { JoinSourcePlan, PlanExpression } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import { lowerBool } from '../lower.ts';
import type { JoinSideBinding, RowShape } from '../scope.ts';
import { joinScope, openShape, recordShape, unionShape } from '../scopes.ts';
import { fieldNamesOf } from '../shapes.ts';
import { countFields } from './field-count.ts';
import { type Input, inputNames, lowerSourceInput } from './inputs.ts';
import { onSide, splitCondition } from './join-condition.ts';
import { type BoundCall, bindArguments, expressionFor, sizeFor, wordFor } from './operator-arguments.ts';
import { refuseParameters } from './operators/windows.ts';
import type { StreamDraft } from './program-streams.ts';
import { resultShape, type Stage } from './stage.ts';

/** How far apart partners may be when nothing says so. */
const DEFAULT_WITHIN_MS = 60_000;

const kinds = { join: 'inner', left_join: 'left', right_join: 'right', full_join: 'full' } as const;

/** A source's plan, its rows, and the operators left for the chain. */
export interface LoweredSource<P> {
  readonly plan: P;
  readonly stage: Stage;
  readonly operators: readonly OperatorCall[];
}

/** `join(A, B)` with its `.on(..)` and `.window(..)`. */
export function lowerJoin(source: JoinSource, operators: readonly OperatorCall[], draft: StreamDraft): LoweredSource<JoinSourcePlan> {
  const { context } = draft;
  const inputs = source.inputs.map((input) => lowerSide(input, draft));
  const bindings = bindSides(inputs, source, context);
  reportSameNames(source, bindings, context);
  countFields(
    bindings.map(({ shape }) => shape),
    source.span,
    context,
  );
  if (inputs.length < 2) context.report('E082', source.span, 'a join needs at least two sides', 'write `join(A, B).on(A.k == B.k)`');
  const isOn = (operator: OperatorCall): boolean => operator.name.text === 'on';
  const window = operators.find((operator) => operator.name.text === 'window');
  const conditions = [...source.inputs.flatMap((input) => input.operators.filter(isOn)), ...operators.filter(isOn)];
  refuseSecondWindow(operators, window, context);
  const parts = lowerConditions(source, conditions, { bindings, context });
  const bound = readWindow(source, window, context);
  const sides = inputs.map(({ plan }, index) => ({
    name: bindings[index]?.name ?? plan.name,
    input: plan,
    fieldNames: source.join === 'join' ? [] : fieldNamesOf(bindings[index]?.shape),
    keys: parts.keys.map((key) => key[index] as PlanExpression),
  }));
  const join = { kind: 'join', join: kinds[source.join], sides, residual: parts.residual, ...bound } as const;
  return {
    plan: { ...join, fingerprint: context.fingerprint(join) },
    stage: { rows: { kind: 'join', sides: bindings, added: recordShape('the join', []) }, window: 'none', aggregated: false, carries: [] },
    operators: operators.filter((operator) => operator.name.text !== 'window' && !isOn(operator)),
  };
}

/** A window of the results would need a word of its own to be told from that of the join. */
function refuseSecondWindow(operators: readonly OperatorCall[], first: OperatorCall | undefined, context: CheckContext): void {
  const second = operators.find((operator) => operator.name.text === 'window' && operator !== first);
  if (!second) return;
  const hint = 'the first bounds the join; collect its results in a stream of their own: `stream Next = This.window(..)`';
  context.report('E012', second.span, 'this join has a window already', hint);
}

function lowerSide(input: SourceInput, draft: StreamDraft): Input {
  const operators = input.operators.filter((operator) => operator.name.text !== 'on');
  return lowerSourceInput(input, operators, { draft, context: draft.context }) ?? unresolvedSide(input);
}

/** Stands in for a side that could not be resolved, so that the rest of the join is checked too. */
function unresolvedSide(input: SourceInput): Input {
  const [name = ''] = inputNames(input);
  const from = { kind: 'event', type: name, types: [name] } as const;
  const rows = { kind: 'plain', shape: openShape(name), aliases: [] } as const;
  return {
    plan: { name, from, operators: [] },
    stage: { rows, window: 'none', aggregated: false, carries: [] },
    reference: { kind: 'event', type: name, symbol: null },
  };
}

/** A side is read by its name, and by the event type it carries when no other side carries it or has that name. */
function bindSides(inputs: readonly Input[], source: JoinSource, context: CheckContext): readonly JoinSideBinding[] {
  const names = inputs.map(({ plan }) => plan.name);
  return inputs.map(({ plan, stage }, slot) => {
    const others = inputs.filter((_, index) => index !== slot);
    const alone = stage.carries.filter((type) => !names.includes(type) && !others.some((other) => other.stage.carries.includes(type)));
    const synonyms = alone.filter((type) => context.symbols.event(type) || plan.from.kind === 'event' || plan.from.kind === 'stream');
    const [, ...aliases] = inputNames(source.inputs[slot] as SourceInput);
    return { name: plan.name, synonyms: [...aliases, ...synonyms], slot, shape: resultShape(stage) };
  });
}

function reportSameNames(source: JoinSource, bindings: readonly JoinSideBinding[], context: CheckContext): void {
  bindings.forEach(({ name }, index) => {
    const written = source.inputs[index];
    if (!written || bindings.findIndex((each) => each.name === name) === index) return;
    context.report('E002', written.span, `two sides of the join are called \`${name}\``, `give one an alias: \`${name} as other\``);
  });
}

interface Condition {
  /** Per key part, one expression for each side. */
  readonly keys: readonly (readonly PlanExpression[])[];
  readonly residual: PlanExpression | null;
}

interface Sides {
  readonly bindings: readonly JoinSideBinding[];
  readonly context: CheckContext;
}

function lowerConditions(source: JoinSource, conditions: readonly OperatorCall[], { bindings, context }: Sides): Condition {
  const lowered = conditions.flatMap((node) => {
    const call = bindOperator(node, context);
    const condition = call && expressionFor(call, 'condition');
    return condition ? [lowerBool(condition, joinScope(bindings), context)] : [];
  });
  if (conditions.length === 0 && bindings.length > 1) {
    const [a, b] = bindings;
    context.report('E082', source.span, 'a join needs `.on(..)`', `write \`.on(${a?.name ?? 'A'}.key == ${b?.name ?? 'B'}.key)\``);
  }
  const { keys, residual } = splitCondition(lowered, bindings.length, (value) => context.fingerprint(value));
  return { keys: keys.map((key) => key.map(onSide)), residual };
}

function bindOperator(node: OperatorCall, context: CheckContext): BoundCall | undefined {
  const descriptor = findOperator(node.name.text);
  return descriptor && bindArguments(node, descriptor, context);
}

function readWindow(
  source: JoinSource,
  node: OperatorCall | undefined,
  context: CheckContext,
): Pick<JoinSourcePlan, 'withinMs' | 'withinCount' | 'latestOnly'> {
  const call = node && bindOperator(node, context);
  if (!call) {
    context.report('W037', source.span, 'the join has no window: partners may be up to 1m apart', 'write `.window(1m)` to say how far');
    return { withinMs: DEFAULT_WITHIN_MS, withinCount: null, latestOnly: false };
  }
  refuseParameters(call, ['sliding', 'session', 'offset', 'align', 'early'], 'the window of a join');
  const size = sizeFor(call, 'size');
  const latestOnly = wordFor(call, 'policy') === 'latest';
  if (!call.given.has('size') && !call.given.has('session'))
    context.report('E082', call.node.span, 'the window of a join needs a duration or a number of events');
  if (source.join !== 'join' && (latestOnly || size?.kind === 'count')) {
    const what = latestOnly ? '`policy: latest`' : 'a window of a number of events';
    context.report(
      'E021',
      call.node.span,
      `${what} and \`${source.join}\` exclude each other`,
      'which side stays unmatched would depend on what was replaced',
    );
  }
  const count = size?.kind === 'count' ? size.count : null;
  return { withinMs: size?.kind === 'time' ? size.ms : count === null ? DEFAULT_WITHIN_MS : null, withinCount: count, latestOnly };
}

/** Rows of every side, for `S.late`. */
export function lateShape(bindings: readonly JoinSideBinding[]): RowShape {
  return unionShape(bindings.map(({ shape }) => shape));
}
