import type { Expression, MergeSource, NamedSource, OperatorCall, Pattern, StepElement } from '../../ast/nodes.ts';
import { findOperator } from '../../operators/table.ts';
import type { SourcePlan } from '../../plan/plan.ts';
import type { CheckContext } from '../context.ts';
import type { AliasBinding, RowShape } from '../scope.ts';
import { openShape, recordShape, unionShape } from '../scopes.ts';
import type { PatternSymbol } from '../symbols.ts';
import { refusePlace } from './chain.ts';
import { bindSource, inputNames, lowerSourceInput, namedInput, shapesOf } from './inputs.ts';
import { lateShape, lowerJoin } from './join.ts';
import type { WrittenKey } from './partition.ts';
import { keysOf } from './patterns/elements.ts';
import { lowerPattern } from './patterns/pattern-source.ts';
import type { StreamDraft } from './program-streams.ts';
import { type Reference, resolveReference } from './references.ts';
import { isSetting, readSettings, type StreamSettings } from './settings.ts';
import { plainStage, type Stage } from './stage.ts';
import { lowerTimer } from './timer.ts';

/** A source with everything that its stream says about it. */
export interface StreamStart {
  readonly plan: SourcePlan;
  /** The rows that reach the first operator. */
  readonly stage: Stage;
  readonly settings: StreamSettings;
  /** Operators left for the chain; those of `prefix` stand in the file of a named pattern. */
  readonly operators: readonly OperatorCall[];
  readonly prefix?: { readonly operators: readonly OperatorCall[]; readonly context: CheckContext };
  /** Set when the source is a pattern. */
  readonly pattern?: {
    readonly bindings: readonly AliasBinding[];
    readonly trendWindowMs: number | null;
    readonly withinMs: number | null;
  };
  /** Rows that can come too late. */
  readonly late: RowShape;
}

/** The source of a stream. */
export function lowerSource(draft: StreamDraft): StreamStart {
  const { source, operators } = draft.symbol.node;
  switch (source.kind) {
    case 'NamedSource':
      return lowerNamedSource(source, operators, draft);
    case 'PatternSource':
      return startOfPattern({ pattern: source.pattern, name: null, context: draft.context, operators }, draft);
    case 'MergeSource':
      return lowerMerge(source, operators, draft);
    case 'JoinSource': {
      const { plan, stage, operators: left } = lowerJoin(source, operators, draft);
      const late = stage.rows.kind === 'join' ? lateShape(stage.rows.sides) : recordShape('the join', []);
      return { plan, stage, settings: readSettings(left, [], draft.context), operators: left, late };
    }
    case 'TimerSource': {
      const { plan, stage } = lowerTimer(source, draft);
      return { plan, stage, settings: readSettings(operators, [], draft.context), operators, late: recordShape('a tick', []) };
    }
  }
}

function lowerNamedSource(source: NamedSource, operators: readonly OperatorCall[], draft: StreamDraft): StreamStart {
  const reference = resolveReference(source.path, draft.symbol, draft.context);
  if (reference?.kind === 'pattern') return lowerNamedPattern(source, reference.symbol, draft);
  return reference ? startOfInput(source, reference, { operators, keys: [], draft }) : startOfNothing(operators, draft);
}

/** Goes on with open rows, so that the chain is checked as far as it can be. */
function startOfNothing(operators: readonly OperatorCall[], draft: StreamDraft): StreamStart {
  const shape = openShape('an unknown source');
  const settings = readSettings(operators, [], draft.context);
  const left = operators.filter((operator) => !isBinding(operator));
  return { plan: { kind: 'events', inputs: [] }, stage: plainStage(shape, [], []), settings, operators: left, late: shape };
}

interface InputStart {
  readonly operators: readonly OperatorCall[];
  readonly keys: readonly WrittenKey[];
  readonly draft: StreamDraft;
}

function startOfInput(
  source: NamedSource,
  reference: Exclude<Reference, { kind: 'pattern' }>,
  { operators, keys, draft }: InputStart,
): StreamStart {
  const { context } = draft;
  const input = namedInput(source, reference, { draft, context });
  const left = takeBindings(operators, reference, draft);
  const settings = readSettings(left, keys, context);
  return {
    plan: { kind: 'events', inputs: [input.plan] },
    stage: input.stage,
    settings,
    operators: left,
    late: unionShape(shapesOf([input])),
  };
}

/** `.from(..)` stands right behind the source; settings do not count. */
function takeBindings(operators: readonly OperatorCall[], reference: Reference, draft: StreamDraft): readonly OperatorCall[] {
  if (!operators.some(isBinding)) return operators;
  let isBehindSource = true;
  return operators.filter((operator) => {
    if (!isBinding(operator)) {
      isBehindSource &&= isSetting(operator);
      return true;
    }
    const descriptor = findOperator('from');
    if (isBehindSource) bindSource(operator, reference, draft.context, draft);
    else if (descriptor) refusePlace(operator, descriptor, draft.context);
    return false;
  });
}

function isBinding({ name }: OperatorCall): boolean {
  return name.text === 'from';
}

/** A named pattern as a source; `pattern P = A where e` is `A.where(e)`. */
function lowerNamedPattern(source: NamedSource, symbol: PatternSymbol, draft: StreamDraft): StreamStart {
  const context = draft.context.in(symbol.module);
  const { pattern } = symbol.node;
  const { operators } = draft.symbol.node;
  if (source.alias) {
    draft.context.report(
      'E035',
      source.alias.span,
      `\`${symbol.name}\` is a pattern: its steps have aliases, its matches have none`,
      'read the steps: `a.field`',
    );
  }
  if (!isPlainStep(pattern.body)) return startOfPattern({ pattern, name: symbol.name, context, operators }, draft);
  return startOfStep(pattern, pattern.body, { context, operators, draft });
}

function isPlainStep(body: Pattern['body']): body is StepElement {
  return body.kind === 'StepElement' && !body.all && !body.negated && body.quantifier === null && !body.operators.some(isMonotone);
}

function isMonotone({ name: { text } }: OperatorCall): boolean {
  return text === 'increasing' || text === 'decreasing';
}

interface StepStart {
  readonly context: CheckContext;
  readonly operators: readonly OperatorCall[];
  readonly draft: StreamDraft;
}

function startOfStep(pattern: Pattern, step: StepElement, { context, operators, draft }: StepStart): StreamStart {
  const reference = resolveReference(step.type, draft.symbol, context);
  if (!reference || reference.kind === 'pattern') return startOfNothing(operators, draft);
  const bound = pattern.within ?? step.within;
  if (bound)
    context.report(
      'E020',
      bound.span,
      'a single event takes no time, so `within` bounds nothing',
      'write a pattern of several steps, or `A+`',
    );
  const source: NamedSource = { kind: 'NamedSource', span: step.span, path: step.type, alias: step.alias };
  const start = startOfInput(source, reference, { operators, keys: keysOf(pattern, context), draft });
  return { ...start, prefix: { operators: [...step.where.map(asWhere), ...step.operators], context } };
}

function asWhere(condition: Expression): OperatorCall {
  const { span } = condition;
  return {
    kind: 'OperatorCall',
    span,
    name: { kind: 'Identifier', span, text: 'where', quoted: false },
    as: null,
    arguments: [{ kind: 'Argument', span, name: null, value: condition, order: null }],
  };
}

function startOfPattern(use: Parameters<typeof lowerPattern>[0], draft: StreamDraft): StreamStart {
  const { plan, bindings, trendWindowMs, ...rest } = lowerPattern(use, draft);
  return { plan, ...rest, pattern: { bindings, trendWindowMs, withinMs: plan.pattern.withinMs } };
}

function lowerMerge(source: MergeSource, operators: readonly OperatorCall[], draft: StreamDraft): StreamStart {
  const { context } = draft;
  const inputs = source.inputs.flatMap((input) => lowerSourceInput(input, input.operators, { draft, context }) ?? []);
  const shape = inputs.length > 0 ? unionShape(shapesOf(inputs)) : openShape('the merge');
  const carries = [...new Set(inputs.flatMap(({ stage }) => stage.carries))];
  return {
    plan: { kind: 'events', inputs: inputs.map(({ plan }) => plan) },
    stage: withoutInputNames(plainStage(shape, [], carries), source),
    settings: readSettings(operators, [], context),
    operators,
    late: shape,
  };
}

/** Rows of a merge may come from any input, so no name of one input reads them. */
function withoutInputNames(stage: Stage, { inputs }: MergeSource): Stage {
  const names = inputs.flatMap(inputNames);
  const ended = new Map(names.map((name) => [name, `\`${name}\` is one input of the merge: write its fields bare`]));
  return stage.rows.kind === 'plain' ? { ...stage, rows: { ...stage.rows, ended } } : stage;
}
