import { toText } from '../../../../../shared/events/text.ts';
import type { Value } from '../../../../../shared/events/value.ts';
import type {
  AggregatePlan,
  InputPlan,
  NamedExpression,
  OperatorPlan,
  PatternNode,
  PatternPlan,
  Plan,
  PlanExpression,
  SourcePlan,
  StepPlan,
  StreamPlan,
} from '../../../../../shared/language/plan/plan.ts';
import { printType } from '../../../../../shared/language/plan/types.ts';
import { brief, checkText, type Files, printed } from '../checking.ts';

/** The plan of a program in a short notation, one line for each source, step and operator; its errors when it has any. */
export function planned(text: string, imports: Files = {}): string {
  const { plan, diagnostics } = checkText(text, imports);
  if (!plan) return diagnostics.map(printed).join('\n');
  return plan.streams.map((stream) => streamText(stream, plan)).join('\n');
}

/** The bindings of a program: id, parameters, event types. */
export function boundSources(text: string): string {
  const { plan, diagnostics } = checkText(text);
  if (!plan) return diagnostics.map(printed).join('\n');
  return plan.sources
    .map(({ id, connector, parameters, eventTypes }) => `${id} <- ${connector}${mapText(parameters)} ${eventTypes.join(' ')}`.trimEnd())
    .join('\n');
}

function streamText(stream: StreamPlan, plan: Plan): string {
  const lines = [
    stream.name,
    ...sourceLines(stream.source, plan),
    ...settingLines(stream),
    ...stream.operators.flatMap((each) => operatorLines(each, plan)),
  ];
  const type =
    stream.resultType.kind === 'record'
      ? `{${stream.resultType.fields.map((field) => `${field.name}: ${printType(field.type)}`).join(', ')}}`
      : printType(stream.resultType);
  return [...lines, `= ${type}`].map((line, index) => (index === 0 ? line : `  ${line}`)).join('\n');
}

function settingLines({ partition, time, onError }: StreamPlan): string[] {
  const keys =
    partition.keys.length > 0 ? [`by ${named(partition.keys)}${partition.expireMs === null ? '' : ` expire ${partition.expireMs}`}`] : [];
  const isPlainTime = time.on === null && time.outOfOrderMs === 0 && time.idleMs === null && time.allowedLatenessMs === 0;
  const times = isPlainTime
    ? []
    : [`time on ${time.on}, out of order ${time.outOfOrderMs}, idle ${time.idleMs}, lateness ${time.allowedLatenessMs}`];
  return [...keys, ...times, ...(onError === 'skip' ? [] : [`on error ${onError}`])];
}

function sourceLines(source: SourcePlan, plan: Plan): string[] {
  switch (source.kind) {
    case 'events':
      return source.inputs.map((input) => `from ${inputText(input, plan)}`);
    case 'timer':
      return [`every ${source.periodMs} after ${source.initialDelayMs} as ${source.eventType}`];
    case 'join': {
      const bound = `within ${source.withinMs ?? `newest ${source.withinCount}`}${source.latestOnly ? ' latest' : ''}`;
      const sides = source.sides.map(
        ({ name, input, keys }) => `side ${name}: ${inputText(input, plan)} key [${keys.map(brief).join(', ')}]`,
      );
      return [`${source.join} join ${bound}`, ...sides, ...(source.residual ? [`and ${brief(source.residual)}`] : [])];
    }
    case 'pattern':
      return patternLines(source.pattern, plan);
  }
}

function inputText({ name, from, operators }: InputPlan, plan: Plan): string {
  const what =
    from.kind === 'event'
      ? `event ${from.types.join('|')}`
      : `${from.kind} ${plan.streams[from.stream]?.name}${from.kind === 'branch' ? `.${from.branch}` : ''}`;
  return `${what} as ${name}${operators
    .flatMap((each) => operatorLines(each, plan))
    .map((line) => ` | ${line}`)
    .join('')}`;
}

function patternLines(pattern: PatternPlan, plan: Plan): string[] {
  const { selection, emission, withinMs, afterMatch, subsetsMax, runsMax, closureMax, monotone, cancels, steps, root, name } = pattern;
  const budget = [
    ...(subsetsMax === 10_000 ? [] : [`subsets ${subsetsMax}`]),
    ...(runsMax === 100_000 ? [] : [`runs ${runsMax}`]),
    ...(closureMax === 10_000 ? [] : [`closure ${closureMax}`]),
  ];
  return [
    `pattern ${[name ?? '-', selection, emission, afterMatch, `within ${withinMs}`, ...budget].join(', ')}`,
    treeText(root),
    ...steps.map((step) => stepText(step, plan)),
    ...(monotone ? [`${monotone.direction} $${monotone.slot} ${brief(monotone.value)}`] : []),
    ...cancels.map(({ input, where }) => `cancelled by ${inputText(input, plan)}${where ? ` where ${brief(where)}` : ''}`),
  ];
}

function treeText(node: PatternNode): string {
  switch (node.kind) {
    case 'step':
      return `$${node.slot}`;
    case 'group':
      return `(${treeText(node.item)}){${node.min},${node.max}}${node.withinMs === null ? '' : ` within ${node.withinMs}`}`;
    default: {
      const sign = { sequence: ' -> ', and: ' AND ', or: ' OR ' }[node.kind];
      return `(${node.items.map(treeText).join(sign)})`;
    }
  }
}

function stepText({ slot, alias, input, negated, min, max, closure, where, withinMs, taps }: StepPlan, plan: Plan): string {
  const many = min === 1 && max === 1 ? '' : `{${min},${max}}`;
  return [
    `$${slot}${alias === null ? '' : ` ${alias}`}: ${negated ? 'NOT ' : ''}${inputText(input, plan)}${many}${closure ? ' closure' : ''}`,
    ...(where ? [`where ${brief(where)}`] : []),
    ...(withinMs === null ? [] : [`within ${withinMs}`]),
    ...taps.flatMap((tap) => operatorLines(tap, plan)),
  ].join(' ');
}

function operatorLines(operator: OperatorPlan, plan: Plan): string[] {
  const own = operator.partition ? ` by ${named(operator.partition.keys)}` : '';
  return [`${operator.kind}${prefixed(detail(operator, plan))}${own}`, ...nested(operator, plan)];
}

const prefixed = (text: string): string => (text === '' ? '' : ` ${text}`);

function nested(operator: OperatorPlan, plan: Plan): string[] {
  if (operator.kind !== 'fork') return [];
  return operator.branches.flatMap(({ name, operators }) => [
    `  ${name}:`,
    ...operators.flatMap((each) => operatorLines(each, plan)).map((line) => `    ${line}`),
  ]);
}

function detail(operator: OperatorPlan, plan: Plan): string {
  switch (operator.kind) {
    case 'filter':
      return brief(operator.condition);
    case 'select':
      return named(operator.items);
    case 'map':
      return brief(operator.value);
    case 'emit':
      return `${operator.type} ${operator.items ? named(operator.items) : 'all'}`;
    case 'window':
      return [
        JSON.stringify(operator.window).replaceAll('"', ''),
        ...operator.predicates.map(({ condition }) => `if ${brief(condition)}`),
        ...(operator.aggregate ? [aggregateText(operator.aggregate)] : []),
      ].join(' ');
    case 'aggregate':
    case 'window_aggregate':
      return aggregateText(operator.aggregate);
    case 'order_by':
      return operator.items.map(({ value, descending }) => `${brief(value)}${descending ? ' desc' : ''}`).join(', ');
    case 'limit':
      return `${operator.count} per ${operator.extent}`;
    case 'last':
      return '';
    case 'distinct':
      return `${operator.key ? brief(operator.key) : 'all'} within ${operator.withinMs} per ${operator.extent}`;
    case 'dedupe':
      return `${brief(operator.key)} within ${operator.withinMs}`;
    case 'throttle':
      return `${operator.count} per ${operator.perMs}`;
    case 'process':
      return `${plan.functions[operator.function]?.name}(${operator.arguments.map(brief).join(', ')})`;
    case 'tap':
      return tapText(operator);
    case 'alert':
      return `${operator.url}${operator.message ? ` ${brief(operator.message)}` : ''}`;
    case 'to':
      return `${operator.connector} ${operator.topic ? brief(operator.topic) : 'null'}${mapText(operator.parameters)}`;
    case 'fork':
      return '';
    case 'context':
      return `${operator.context}${mapText(operator.parameters)}`;
    case 'trend_aggregate':
      return `${operator.windowMs} [${operator.calls.map((call) => `${call.function}(${call.slot === null ? '' : `$${call.slot}`}${call.argument ? ` ${brief(call.argument)}` : ''})`).join(', ')}] ${named(operator.items)}`;
    case 'forecast':
      return `${operator.confidence} ${operator.horizonMs} ${operator.warmup}/${operator.maxDepth} ${operator.hawkes} ${operator.conformal}`;
    case 'enrich':
      return `${operator.connector} ${brief(operator.key)} [${operator.fields.join(', ')}] ttl ${operator.cacheTtlMs} timeout ${operator.timeoutMs}${operator.fallback ? ` else ${brief(operator.fallback)}` : ''}`;
    case 'score':
      return `${operator.model} ${operator.inputNames.map((name, index) => `${name}: ${brief(operator.inputs[index] as PlanExpression)}`).join(', ')} -> ${operator.outputs.join(', ')}${mapText(operator.parameters)}`;
  }
}

function tapText({ tap, values, level, message, data, counter, labels }: Extract<OperatorPlan, { kind: 'tap' }>): string {
  const parts = [level, message, data].map((part) => (part ? brief(part) : '-'));
  const counted = counter === null ? '' : ` count ${counter}{${named(labels)}}`;
  return `${tap} ${values.map(brief).join(', ')}${tap === 'log' ? parts.join(' ') : ''}${counted}`.trim();
}

function aggregateText({ calls, items }: AggregatePlan): string {
  const written = calls.map((call) => {
    const args = [...call.arguments.map(brief), ...call.constants.map(toText)].join(', ');
    return `${call.function}(${args})${call.filter ? ` where ${brief(call.filter)}` : ''}`;
  });
  return `[${written.join(', ')}] ${named(items)}`;
}

function named(items: readonly NamedExpression[]): string {
  return items.map(({ name, value }) => `${name}=${brief(value)}`).join(', ');
}

function mapText(map: ReadonlyMap<string, Value>): string {
  return map.size === 0 ? '' : `{${[...map].map(([name, value]) => `${name}: ${toText(value)}`).join(', ')}}`;
}
