import type { OperatorCall, Pattern, Span } from '../../../ast/nodes.ts';
import { findOperator } from '../../../operators/table.ts';
import type { CancelPlan, PatternPlan, PatternSourcePlan, StepPlan } from '../../../plan/plan.ts';
import { lowerStepCondition } from '../../conditions.ts';
import type { CheckContext } from '../../context.ts';
import { lowerExpression } from '../../lower.ts';
import type { AliasBinding, NameScope, RowShape } from '../../scope.ts';
import { matchShape, rowScope, unionShape } from '../../scopes.ts';
import { fieldOf } from '../../shapes.ts';
import { countFields } from '../field-count.ts';
import { resolveInput } from '../inputs.ts';
import { type BoundCall, bindArguments, expressionFor, sizeFor } from '../operator-arguments.ts';
import { refuseParameters } from '../operators/windows.ts';
import { type Partition, resolvePartition } from '../partition.ts';
import type { StreamDraft } from '../program-streams.ts';
import { isSetting, readSettings, type StreamSettings } from '../settings.ts';
import type { Stage } from '../stage.ts';
import { stepPath } from '../stream-order.ts';
import { type BuiltPattern, type BuiltStep, buildElements, firstStep, isOnce, keysOf, leastOf, unreadOf, withinOf } from './elements.ts';
import { type Policies, readPolicies } from './policies.ts';
import { endsInClosure, everyGapIsBounded, hasClosure, lastSlots, trailingAbsences, trailingOptional } from './tree.ts';

/** A pattern as a stream uses it. */
export interface PatternUse {
  readonly pattern: Pattern;
  /** The named pattern, if it is one. */
  readonly name: string | null;
  /** The file that the pattern stands in. */
  readonly context: CheckContext;
  /** All operators of the stream. */
  readonly operators: readonly OperatorCall[];
}

export interface LoweredPattern {
  readonly plan: PatternSourcePlan;
  readonly stage: Stage;
  readonly settings: StreamSettings;
  /** Operators left for the chain. */
  readonly operators: readonly OperatorCall[];
  /** Aliases of the steps that bind events. */
  readonly bindings: readonly AliasBinding[];
  /** The window of `.trend_aggregate`. */
  readonly trendWindowMs: number | null;
  /** Rows of every step, for `S.late`. */
  readonly late: RowShape;
}

/** Lowers a pattern with the operators of its stream that are about it. */
export function lowerPattern(use: PatternUse, draft: StreamDraft): LoweredPattern {
  const { context } = draft;
  const built = buildElements(use.pattern.body, draft, use.context);
  refuseLeadingNot(use);
  const calls = patternCalls(use.operators, context);
  const rows = (): NameScope => rowScope(unionShape(built.steps.map(({ shape }) => shape)), []);
  const policies = readPolicies(
    calls.map((call) => ({ ...call, rows })),
    context,
  );
  const keys = [...keysOf(use.pattern, use.context), ...built.innerKeys];
  const trend = use.operators.find((operator) => operator.name.text === 'trend_aggregate');
  const window = trend && use.operators.slice(0, use.operators.indexOf(trend)).find((operator) => operator.name.text === 'window');
  const rest = use.operators.filter((operator) => operator !== window);
  const settings = readSettings(rest, keys, context);
  const cancels = lowerCancels(calls, built, draft);
  const withinMs = patternWithin(use, policies, rows);
  const finished = finish({ use, draft, built, calls, policies, withinMs });
  resolveKeys(settings.partition, [...built.steps.map(({ shape }) => shape), ...cancels.map(({ shape }) => shape)], bindingsOf(built));
  const plan = { ...finished, cancels: cancels.map((cancel) => cancel.plan) };
  const trendWindowMs = trend ? trendWindow(trend, window, { withinMs, context }) : null;
  if (trend) refuseWithTrends(calls, context);
  warnUnbounded({ use, built, plan, settings, trendWindowMs, context, source: draft.symbol.node.source.span });
  const bindings = bindingsOf(built);
  countFields(
    bindings.map(({ shape }) => shape),
    use.pattern.span,
    context,
  );
  return {
    plan: { kind: 'pattern', pattern: { ...plan, fingerprint: context.fingerprint({ ...plan, name: null }) } },
    stage: matchStage(bindings, built, plan),
    settings,
    operators: rest.filter((operator) => !isPatternOperator(operator) && !isSetting(operator)),
    bindings,
    trendWindowMs,
    late: unionShape(built.steps.map(({ shape }) => shape)),
  };
}

function isPatternOperator(operator: OperatorCall): boolean {
  return findOperator(operator.name.text)?.family === 'patterns';
}

function patternCalls(operators: readonly OperatorCall[], context: CheckContext): readonly BoundCall[] {
  return operators.flatMap((node) => {
    const descriptor = findOperator(node.name.text);
    return descriptor?.family === 'patterns' ? [bindArguments(node, descriptor, context)] : [];
  });
}

/** The parser has refused what begins with a bare `NOT`. */
function refuseLeadingNot({ pattern: { body }, context }: PatternUse): void {
  const first = firstStep(body);
  const [head] = body.kind === 'SequenceElement' && body.form === 'arrow' ? body.items : [body];
  if (!first?.negated || head === first) return;
  context.report('E000', first.span, 'a pattern cannot begin with `NOT`', 'put a step before it: `A -> NOT B within 5m`');
}

function patternWithin({ pattern, context }: PatternUse, { withins }: Policies, rows: () => NameScope): number | null {
  const own = pattern.within ? withinOf(pattern.within, context, rows) : undefined;
  return leastOf(own === undefined ? withins : [own, ...withins]);
}

interface Finishing {
  readonly use: PatternUse;
  readonly draft: StreamDraft;
  readonly built: BuiltPattern;
  readonly calls: readonly BoundCall[];
  readonly policies: Policies;
  readonly withinMs: number | null;
}

function finish({ use, draft, built, calls, policies, withinMs }: Finishing): Omit<PatternPlan, 'cancels' | 'fingerprint'> {
  const { context } = draft;
  const steps = built.steps.map(({ plan }) => plan);
  const monotone = lowerMonotone({ use, draft, built, calls, policies });
  const defaultEmission = endsInClosure(built.root, steps) && !monotone ? 'each' : 'longest';
  const emission = policies.emission ?? defaultEmission;
  const at = (name: string): Span => calls.find((call) => call.descriptor.name === name)?.node.span ?? draft.symbol.node.name.span;
  refuseSkip({ policies, emission, context, span: at('after_match') });
  refuseStrictAbsence({ built, steps, policies, context, span: at('strict') });
  reportAbsenceWithout(built, steps, { withinMs, context: use.context });
  const optional = trailingOptional(built.root, steps);
  if (optional) {
    const span = built.steps[optional.slot]?.node.span ?? use.pattern.span;
    use.context.report(
      'W049',
      span,
      'the pattern is complete without its last step, which therefore never captures',
      'leave it out, or make it a step that must come',
    );
  }
  warnCancelOfLast({ built, steps, calls, context });
  if (policies.emission && !hasClosure(built.root, steps)) warnNoClosure(policies.emission, at(policies.emission), context);
  return {
    name: use.name,
    steps,
    root: built.root,
    withinMs,
    selection: policies.selection,
    emission,
    subsetsMax: policies.subsetsMax,
    afterMatch: policies.afterMatch,
    monotone,
    runsMax: policies.runsMax,
    closureMax: policies.closureMax,
  };
}

interface SkipCheck {
  readonly policies: Policies;
  readonly emission: PatternPlan['emission'];
  readonly context: CheckContext;
  readonly span: Span;
}

function refuseSkip({ policies, emission, context, span }: SkipCheck): void {
  if (policies.afterMatch !== 'skip_past_last' || emission !== 'each' || policies.selection === 'any') return;
  const why =
    policies.emission === 'each' ? '`.each()`' : 'the growing matches of a closure that ends the pattern (`.each()`, the default)';
  context.report('E021', span, `\`skip_past_last\` and ${why} exclude each other`, 'add `.longest()`: one match with the whole closure');
}

function warnNoClosure(emission: PatternPlan['emission'], span: Span, context: CheckContext): void {
  const message = `\`.${emission}()\` says how a closure gives its matches, and this pattern has none`;
  context.report('W053', span, message, 'leave it out, or let a step repeat: `X+`');
}

interface AbsenceCheck {
  readonly built: BuiltPattern;
  readonly steps: readonly StepPlan[];
  readonly policies: Policies;
  readonly context: CheckContext;
  readonly span: Span;
}

function refuseStrictAbsence({ built, steps, policies, context, span }: AbsenceCheck): void {
  const { absences, before } = trailingAbsences(built.root, steps);
  if (policies.selection !== 'strict' || absences.length === 0 || !before || !endsInClosure(before, steps)) return;
  context.report(
    'E021',
    span,
    '`.strict()` and a closure before an absence at the end exclude each other',
    'nothing would say when the closure ends',
  );
}

function reportAbsenceWithout(
  built: BuiltPattern,
  steps: readonly StepPlan[],
  at: { readonly withinMs: number | null; readonly context: CheckContext },
): void {
  const [last] = trailingAbsences(built.root, steps).absences;
  if (!last || last.withinMs !== null || at.withinMs !== null) return;
  const node = built.steps[last.slot]?.node;
  // What is wrong in its own has been said.
  if (node && node.within === null)
    at.context.report(
      'E082',
      node.span,
      'an absence at the end needs `within`: without it the pattern never matches',
      'write `-> NOT B within 5m`',
    );
}

function warnCancelOfLast({
  built,
  steps,
  calls,
  context,
}: Omit<AbsenceCheck, 'policies' | 'span'> & { readonly calls: readonly BoundCall[] }): void {
  const last = lastSlots(built.root, steps).map((slot) => steps[slot]?.input.name);
  for (const call of calls) {
    const argument = call.descriptor.name === 'not' ? call.given.get('step') : undefined;
    const name = argument && stepPath(argument.value)?.at(-1)?.text;
    if (name === undefined || !last.includes(name)) continue;
    context.report(
      'W048',
      call.node.span,
      `\`${name}\` is also the last step: it cancels the run or completes it`,
      `for a timeout write \`-> NOT ${name} within d\``,
    );
  }
}

type MonotoneCheck = Omit<Finishing, 'withinMs'>;

/** `.increasing(f)`, `.decreasing(f)` on the only closure, of the pattern or written on its step. */
function lowerMonotone({ use, draft, built, calls, policies }: MonotoneCheck): PatternPlan['monotone'] {
  const onStream = calls.filter(({ descriptor: { name } }) => name === 'increasing' || name === 'decreasing');
  const onSteps = built.steps.flatMap((step) => step.monotone.map((node) => ({ step, node })));
  const closures = built.steps.filter(({ plan }) => plan.closure);
  const written = [
    ...onSteps.map(({ step, node }) => ({ step, call: bindMonotone(node, use.context) })),
    ...onStream.map((call) => ({ step: closures[0], call })),
  ];
  const [first, second] = written;
  if (!first?.call) return null;
  const { call, step } = first;
  const name = `.${call.descriptor.name}`;
  if (second?.call)
    call.context.report('E021', second.call.node.span, 'a pattern has one monotone condition at most', `keep \`${name}\` or the other`);
  if (!step?.plan.closure || closures.length !== 1) {
    const what =
      closures.length === 0
        ? 'the pattern has no closure'
        : closures.length === 1
          ? 'this step is none'
          : 'the pattern has several closures';
    call.context.report('E021', call.node.span, `\`${name}\` applies to the only closure, and ${what}`, 'write the step as `X+`');
    return null;
  }
  refuseEmission(call, policies, draft.context);
  return monotoneOf(call, step);
}

function bindMonotone(node: OperatorCall, context: CheckContext): BoundCall | undefined {
  const descriptor = findOperator(node.name.text);
  return descriptor && bindArguments(node, descriptor, context);
}

function refuseEmission(call: BoundCall, { emission, selection }: Policies, context: CheckContext): void {
  const other = emission !== null && emission !== 'longest' ? `.${emission}()` : selection === 'any' ? '.stam()' : undefined;
  if (!other) return;
  context.report(
    'E021',
    call.node.span,
    `\`.${call.descriptor.name}\` gives one match per run, so it and \`${other}\` exclude each other`,
    'keep one of them',
  );
}

const ordered = new Set(['int', 'float', 'str', 'timestamp', 'duration', 'any']);

function monotoneOf(call: BoundCall, { plan, shape }: BuiltStep): PatternPlan['monotone'] {
  const node = expressionFor(call, 'value');
  if (!node) return null;
  const value = lowerExpression(node, rowScope(shape, plan.alias === null ? [] : [plan.alias]), call.context);
  if (!ordered.has(value.type.kind)) call.context.report('E062', node.span, `\`.${call.descriptor.name}\` needs a value that has an order`);
  return { slot: plan.slot, value, direction: call.descriptor.name as 'increasing' | 'decreasing' };
}

interface Cancel {
  readonly plan: CancelPlan;
  readonly shape: RowShape;
}

/** `.not(X where e)`: e reads X bare and every alias of the pattern. */
function lowerCancels(calls: readonly BoundCall[], built: BuiltPattern, draft: StreamDraft): readonly Cancel[] {
  const earlier = bindingsOf(built);
  const unbound = unreadOf(built.negated);
  return calls.flatMap((call) => {
    const argument = call.descriptor.name === 'not' ? call.given.get('step') : undefined;
    if (!argument) return [];
    const path = stepPath(argument.value);
    if (!path) {
      call.context.report('E081', argument.span, '`.not` takes an event type with a condition', 'write `.not(X where e)`');
      return [];
    }
    const input = resolveInput(path, draft, call.context);
    if (input?.stage.rows.kind !== 'plain') return [];
    const { shape } = input.stage.rows;
    const conditions = argument.value.kind === 'StepArgument' ? [argument.value.where] : [];
    const where = lowerStepCondition(conditions, { candidate: shape, own: null, earlier, unbound }, call.context);
    return [{ plan: { input: input.plan, where }, shape }];
  });
}

function bindingsOf({ steps }: BuiltPattern): readonly AliasBinding[] {
  return steps.flatMap(({ plan: { alias, slot, closure, negated }, node, shape }) =>
    alias === null || negated ? [] : [{ alias, slot, shape, closure, once: isOnce(node) }],
  );
}

function matchStage(
  bindings: readonly AliasBinding[],
  { steps, root, negated }: BuiltPattern,
  plan: { readonly steps: readonly StepPlan[] },
): Stage {
  const last = lastSlots(root, plan.steps).flatMap((slot) => steps[slot]?.shape ?? []);
  const own = { ...matchShape(bindings, []), description: 'the match' };
  const rows = { kind: 'match', bindings, shape: matchShape(bindings, last), own, unbound: unreadOf(negated) } as const;
  return { rows, window: 'none', aggregated: false, carries: [] };
}

/** Every step's events must have the keys; they are read on the candidate. */
function resolveKeys(partition: Partition, shapes: readonly RowShape[], bindings: readonly AliasBinding[]): void {
  for (const { node, context } of partition.written) {
    for (const shape of new Set(shapes)) {
      const hint = (name: string): string | undefined => noCommonKey(name, { shape, shapes, bindings });
      lowerExpression(node, { ...rowScope(shape), hint }, context);
    }
  }
  resolvePartition(partition, () => rowScope(unionShape([...new Set(shapes)])));
}

interface KeyPlace {
  readonly shape: RowShape;
  readonly shapes: readonly RowShape[];
  readonly bindings: readonly AliasBinding[];
}

/** What to write when only some events of the pattern have the key. */
function noCommonKey(name: string, { shape, shapes, bindings }: KeyPlace): string | undefined {
  if (!shapes.some((other) => fieldOf(other, name) !== undefined)) return undefined;
  const alias = bindings.find((binding) => fieldOf(binding.shape, name) !== undefined)?.alias ?? 'a';
  const names = shape.fields.map((field) => field.name);
  const own = names.find((field) => field.includes(name) || name.includes(field)) ?? 'its_key';
  return `the events have no common key: leave \`.partition_by(${name})\` out and write \`where ${own} == ${alias}.${name}\` on the step`;
}

function trendWindow(
  trend: OperatorCall,
  window: OperatorCall | undefined,
  at: { readonly withinMs: number | null; readonly context: CheckContext },
): number | null {
  const descriptor = findOperator('window');
  if (!window || !descriptor) {
    if (at.withinMs === null)
      at.context.report(
        'E082',
        trend.span,
        '`.trend_aggregate` needs a window',
        'write `.window(5m)` before it, or bound the pattern with `within`',
      );
    return at.withinMs;
  }
  const call = bindArguments(window, descriptor, at.context);
  refuseParameters(call, ['sliding', 'session', 'offset', 'align', 'early', 'policy'], 'the window of trends, which is tumbling');
  const size = sizeFor(call, 'size');
  if (size?.kind === 'time') return size.ms;
  if (!call.given.has('size') || size) at.context.report('E081', window.span, 'the window of trends is a duration', 'write `.window(5m)`');
  return null;
}

const fitsTrends = new Set(['within', 'stam', 'increasing', 'decreasing']);

function refuseWithTrends(calls: readonly BoundCall[], context: CheckContext): void {
  for (const { descriptor, node } of calls) {
    if (fitsTrends.has(descriptor.name)) continue;
    context.report(
      'E021',
      node.span,
      `\`.${descriptor.name}\` and \`.trend_aggregate\` exclude each other`,
      'trends are all combinations; they are not enumerated as matches',
    );
  }
}

interface BoundCheck {
  readonly use: PatternUse;
  readonly built: BuiltPattern;
  readonly plan: Pick<PatternPlan, 'withinMs' | 'root' | 'steps'>;
  readonly settings: StreamSettings;
  readonly trendWindowMs: number | null;
  readonly context: CheckContext;
  /** Where the stream names the pattern. */
  readonly source: Span;
}

/** The text of the `within` that stands last and belongs to a `NOT`. */
function withinOfLastAbsence({ root, steps }: BuiltPattern, plans: readonly StepPlan[], context: CheckContext): string | undefined {
  const [last] = trailingAbsences(root, plans).absences;
  const within = last && steps[last.slot]?.node.within;
  return within ? context.text(within.span) : undefined;
}

function warnUnbounded({ use, built, plan, settings, trendWindowMs, context, source }: BoundCheck): void {
  const bounded = plan.withinMs !== null || settings.partition.expireMs !== null || trendWindowMs !== null;
  if (bounded || everyGapIsBounded(plan.root, plan.steps)) return;
  const isWritten = (name: string): boolean => use.operators.some((operator) => operator.name.text === name);
  // What stands there and is wrong has been reported.
  if (isWritten('within') || (trendWindowMs === null && isWritten('trend_aggregate'))) return;
  const ofAbsence = withinOfLastAbsence(built, plan.steps, use.context);
  const why = ofAbsence === undefined ? '' : `; \`within ${ofAbsence}\` is that of the \`NOT\` before it`;
  const hint = ofAbsence === undefined ? 'add `.within(10m)`' : `for the whole pattern write \`.within(${ofAbsence})\``;
  context.report('W003', source, `nothing bounds this pattern in time, so its runs are kept until they match${why}`, hint);
}
