import { limits } from '../../../../limits.ts';
import type { Expression } from '../../../ast/nodes.ts';
import type {
  AggregatePlan,
  AttributeName,
  OperatorPlan,
  PlanExpression,
  WindowOperatorPlan,
  WindowPlan,
  WindowPredicate,
} from '../../../plan/plan.ts';
import { isOrdered, isUnknown } from '../../../plan/type-relations.ts';
import { ANY, arrayOf, mapOf, printType } from '../../../plan/types.ts';
import { aggregateScope } from '../../aggregate-scope.ts';
import { expressionOf, lowerBool, lowerExpression, lowerNamed } from '../../lower.ts';
import { extendScope, programScope, recordShape } from '../../scopes.ts';
import { unwrapped } from '../../walk.ts';
import { type BoundCall, countFor, durationFor, expressionFor, sizeFor, wordFor } from '../operator-arguments.ts';
import { keyFields, partitionAt } from '../partition.ts';
import { type PlainRows, rowShape, type Stage, scopeOf, typeOfShape, withAdded, withFields } from '../stage.ts';
import { keyedPlan, type LoweredOperator, type LowerOperator, operatorText, type Position, passing, planOf } from './position.ts';
import { fieldsOf } from './rows.ts';

/** Readable of what a window gives. */
export const WINDOW_ATTRIBUTES: readonly AttributeName[] = ['window_start', 'window_end', 'is_final'];

/** `.window(..)` of events; those of joins and trends belong to their sources. */
export const lowerWindow: LowerOperator = (at) => {
  const { call, context, stage } = at;
  if (stage.window !== 'none') {
    context.report(
      'E012',
      call.node.span,
      'this stream has a window already',
      'continue in a stream of its own: `stream Next = This.window(..)`',
    );
    return passing(at);
  }
  const window = readWindow(call);
  const next: Stage = { ...withAdded(stage, { attributes: WINDOW_ATTRIBUTES }), window: 'bare' };
  if (!window) return { plans: [], stage: next };
  return { plans: [keyedPlan(at, 'window', { window, aggregate: null, predicates: [] })], stage: next };
};

/** The window that the arguments describe; undefined when they do not (reported). */
function readWindow(call: BoundCall): WindowPlan | undefined {
  if (wordFor(call, 'policy') === 'latest') call.context.report('E081', call.node.span, '`policy: latest` belongs to the window of a join');
  const session = call.given.has('session');
  if (session && call.given.has('size')) return refuse(call, 'a window has a size or is a session, not both');
  if (session) return sessionWindow(call);
  if (!call.given.has('size')) {
    call.context.report('E082', call.node.span, '`.window` needs a duration, a number of events, or `session:`');
    return undefined;
  }
  const size = sizeFor(call, 'size');
  if (!size) return undefined;
  return size.kind === 'time' ? timeWindow(call, size.ms) : countWindow(call, size.count);
}

function sessionWindow(call: BoundCall): WindowPlan | undefined {
  refuseParameters(call, ['sliding', 'offset', 'align'], 'a session window');
  const gapMs = durationFor(call, 'session');
  return gapMs === undefined ? undefined : { kind: 'session', gapMs, earlyMs: durationFor(call, 'early') ?? null };
}

function countWindow(call: BoundCall, size: number): WindowPlan | undefined {
  refuseParameters(call, ['offset', 'align', 'early'], 'a count window');
  const slide = sizeFor(call, 'sliding');
  if (slide?.kind === 'time') return refuse(call, 'a count window slides by a number of events, not by a duration');
  if (slide && slide.count > size) return refuse(call, `\`sliding\` must not be larger than the window, ${size}`);
  return { kind: 'count', size, slide: slide ? slide.count : null };
}

function timeWindow(call: BoundCall, sizeMs: number): WindowPlan | undefined {
  const slide = sizeFor(call, 'sliding');
  if (slide?.kind === 'count') return refuse(call, 'a time window slides by a duration, not by a number of events');
  const slideMs = slide?.ms ?? sizeMs;
  if (slideMs > sizeMs) return refuse(call, '`sliding` must not be longer than the window');
  if (sizeMs / slideMs > limits.windowsPerEventMax) {
    return refuse(
      call,
      `an event may be in at most ${limits.windowsPerEventMax} windows at once: make \`sliding\` longer or the window shorter`,
    );
  }
  const align = wordFor(call, 'align') === 'first' ? 'first' : 'epoch';
  if (align === 'first') refuseParameters(call, ['offset'], 'windows that start at the first event');
  const offsetMs = durationFor(call, 'offset', 'zero') ?? 0;
  const earlyMs = durationFor(call, 'early') ?? null;
  if (earlyMs !== null && earlyMs >= sizeMs)
    return refuse(call, '`early` must be shorter than the window: it gives results before the end');
  return { kind: 'time', sizeMs, slideMs, offsetMs, align, earlyMs };
}

function refuse(call: BoundCall, message: string): undefined {
  call.context.report('E081', call.node.span, message);
}

/** Parameters that mean nothing for this form of window. */
export function refuseParameters(call: BoundCall, names: readonly string[], what: string): void {
  for (const name of names) {
    const argument = call.given.get(name);
    if (argument) call.context.report('E080', argument.span, `\`${name}\` means nothing for ${what}`);
  }
}

/** `.aggregate(n: agg, ..)`: joins a window right before it, else aggregates what came through one, else runs. */
export const lowerAggregate: LowerOperator = (at) => {
  const { stage, context, call } = at;
  if (stage.aggregated) {
    context.report(
      'E011',
      call.node.span,
      'this stream has an aggregate already',
      'continue in a stream of its own: `stream Next = This.aggregate(..)`',
    );
    return { plans: [], stage: withAdded(stage, { open: true }) };
  }
  const windowed = stage.window !== 'none';
  if (!windowed) warnUnbounded(at);
  const partition = partitionAt(at.partition, stage);
  const keys = keyFields(at.partition);
  const attributes = windowed ? WINDOW_ATTRIBUTES : [];
  const scope = aggregateScope(scopeOf({ ...stage, window: 'none' }), { keys, attributes, windowed }, context);
  const items = lowerNamed(call.rest, scope, context);
  const aggregate: AggregatePlan = { calls: scope.calls, items };
  const fields = [...keys.filter(({ name }) => !items.some((item) => item.name === name)), ...fieldsOf(items)];
  const shape = recordShape('the result of `.aggregate`', fields, { attributes });
  const rows = withFields(stage, shape).rows as PlainRows;
  const ended = new Map([...rowShape(stage).fields.map(({ name }) => [name, endedByAggregate(name)] as const), ...(rows.ended ?? [])]);
  const next: Stage = {
    rows: { ...rows, shape, ended },
    window: windowed ? 'aggregated' : 'none',
    aggregated: true,
    carries: stage.carries,
  };
  return { ...placeAggregate(at, aggregate, partition), stage: next };
};

function endedByAggregate(name: string): string {
  return `\`${name}\` is a field of each event: make it a key with \`.partition_by(${name})\`, or write \`${name}: last(${name})\` in \`.aggregate\``;
}

function warnUnbounded({ context, call }: Position): void {
  context.report(
    'W001',
    call.node.span,
    'without a window the aggregate runs over everything so far',
    'put `.window(..)` before it if that is not meant',
  );
}

function placeAggregate(at: Position, aggregate: AggregatePlan, partition: OperatorPlan['partition']): Omit<LoweredOperator, 'stage'> {
  const last = at.before.at(-1);
  if (last?.kind === 'window' && at.stage.window === 'bare') return { plans: [joined(last, aggregate, at)], absorbsLast: true };
  const own = partition ? { partition } : {};
  const kind = at.stage.window === 'none' ? 'aggregate' : 'window_aggregate';
  const plan = planOf(at, kind, { aggregate });
  return { plans: [{ ...plan, ...own, fingerprint: at.context.fingerprint([plan.fingerprint, own]) }] };
}

function joined(window: WindowOperatorPlan, aggregate: AggregatePlan, at: Position): WindowOperatorPlan {
  const text = `${window.text}.${operatorText(at.call.node, at.context)}`;
  return { ...window, aggregate, text, fingerprint: at.context.fingerprint([window.fingerprint, aggregate]) };
}

/** `.pattern(name: events => expr)`: on the window right before it. */
export const lowerWindowPattern: LowerOperator = (at) => {
  const { call, context, stage, before } = at;
  for (const { value } of call.rest) {
    if (value.kind === 'PatternArgument') {
      context.report(
        'E092',
        value.span,
        'a pattern of steps cannot stand in `.pattern`',
        `write it as the source of a stream: \`stream S = ${context.text(value.span)}\``,
      );
      return passing(at);
    }
  }
  const window = before.at(-1);
  if (window?.kind !== 'window' || stage.window !== 'bare') {
    context.report('E092', call.node.span, '`.pattern` looks at the events of a window', 'write it right behind `.window(..)`');
    return passing(at);
  }
  const predicates = [...window.predicates, ...call.rest.flatMap((argument) => lowerPredicate(argument, at))];
  const text = `${window.text}.${operatorText(call.node, context)}`;
  const plan = { ...window, predicates, text, fingerprint: context.fingerprint([window.fingerprint, predicates]) };
  const isFollowedByEvents = at.behind.some(({ name }, index) => index === 0 && (name.text === 'aggregate' || name.text === 'pattern'));
  return { plans: [plan], absorbsLast: true, stage: isFollowedByEvents ? stage : { ...stage, window: 'aggregated' } };
};

function lowerPredicate(argument: BoundCall['rest'][number], { context, stage }: Position): readonly WindowPredicate[] {
  const written = expressionOf(argument, context);
  const node = written && unwrapped(written);
  if (!node) return [];
  if (node.kind !== 'Lambda' || node.parameters.length !== 1) {
    context.report('E062', argument.value.span, '`.pattern` takes a function of the events: `name: events => condition`');
    return [];
  }
  const rows = typeOfShape(rowShape(stage), 'event');
  const scope = programScope();
  const local = { kind: 'local', slot: scope.frame.allocate(), type: arrayOf(rows === ANY ? mapOf(ANY) : rows) } as const;
  const { text } = node.parameters[0] as { readonly text: string };
  return [{ condition: lowerBool(node.body, extendScope(scope, new Map([[text, local]])), context), text }];
}

/** `.order_by(e [desc], ..)`. */
export const lowerOrderBy: LowerOperator = (at) => {
  if (!behindWindow(at)) return passing(at);
  const items = at.call.rest.flatMap((argument) => {
    const node = expressionOf(argument, at.context);
    return node ? [{ value: lowerOrdered(node, at), descending: argument.order === 'desc' }] : [];
  });
  return passing(at, planOf(at, 'order_by', { items }));
};

function lowerOrdered(node: Expression, { stage, context }: Position): PlanExpression {
  const value = lowerExpression(node, scopeOf(stage), context);
  if (!isUnknown(value.type) && !isOrdered(value.type)) {
    context.report('E062', node.span, `\`.order_by\` needs a value that has an order, not ${printType(value.type)}`);
  }
  return value;
}

/** `.last()`. */
export const lowerLast: LowerOperator = (at) => (behindWindow(at) ? passing(at, planOf(at, 'last', {})) : passing(at));

function behindWindow({ stage, context, call }: Position): boolean {
  if (stage.window !== 'none') return true;
  const { name } = call.descriptor;
  context.report('E092', call.node.span, `\`.${name}\` needs a window before it`, `a stream has no end: write \`.window(..).${name}(..)\``);
  return false;
}

/** Behind a window that hands on its events operators act per window, else over the stream's life. */
function extentOf(stage: Stage): 'window' | 'stream' {
  return stage.window === 'bare' ? 'window' : 'stream';
}

/** `.limit(n)`. */
export const lowerLimit: LowerOperator = (at) => {
  const count = countFor(at.call, 'count');
  return count === undefined ? passing(at) : passing(at, keyedPlan(at, 'limit', { count, extent: extentOf(at.stage) }));
};

/** `.first()`. */
export const lowerFirst: LowerOperator = (at) => passing(at, keyedPlan(at, 'limit', { count: 1, extent: extentOf(at.stage) }));

/** `.distinct([e], within: d)`. */
export const lowerDistinct: LowerOperator = (at) => {
  const node = expressionFor(at.call, 'key');
  const key = node ? lowerExpression(node, scopeOf(at.stage), at.context) : null;
  return passing(at, keyedPlan(at, 'distinct', { key, withinMs: durationFor(at.call, 'within') ?? null, extent: extentOf(at.stage) }));
};

/** `.dedupe(e, within: d)`. */
export const lowerDedupe: LowerOperator = (at) => {
  const node = expressionFor(at.call, 'key');
  const withinMs = durationFor(at.call, 'within');
  const key = node && lowerExpression(node, scopeOf(at.stage), at.context);
  return key && withinMs !== undefined ? passing(at, keyedPlan(at, 'dedupe', { key, withinMs })) : passing(at);
};

/** `.throttle(n, per: d)`. */
export const lowerThrottle: LowerOperator = (at) => {
  const count = countFor(at.call, 'count');
  const perMs = durationFor(at.call, 'per');
  return count !== undefined && perMs !== undefined ? passing(at, keyedPlan(at, 'throttle', { count, perMs })) : passing(at);
};
