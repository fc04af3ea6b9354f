import type { Call, Expression } from '../../../ast/nodes.ts';
import { nearestName } from '../../../diagnostics/nearest-name.ts';
import type { PlanExpression, TrendCall } from '../../../plan/plan.ts';
import { promiseSame } from '../../../plan/type-relations.ts';
import { ANY, FLOAT, INT, isNumeric, type Type } from '../../../plan/types.ts';
import type { CheckContext } from '../../context.ts';
import { UNRESOLVED } from '../../expressions/place.ts';
import { expressionOf, lowerExpression, lowerNamed } from '../../lower.ts';
import type { AliasBinding, NameScope, RowShape } from '../../scope.ts';
import { interceptScope, recordShape, rowScope, slotScope } from '../../scopes.ts';
import { unwrapped, walk } from '../../walk.ts';
import { keyedPlan, type LoweredOperator, type Position } from '../operators/position.ts';
import { fieldsOf } from '../operators/rows.ts';
import { WINDOW_ATTRIBUTES } from '../operators/windows.ts';
import { keyFields } from '../partition.ts';

type TrendFunction = TrendCall['function'];

const trendFunctions: Readonly<Record<TrendFunction, 'none' | 'alias' | 'value'>> = {
  count_trends: 'none',
  count_events: 'alias',
  sum_trends: 'value',
  avg_trends: 'value',
  min_trends: 'value',
  max_trends: 'value',
};

/** The steps that trends can be asked about. */
export interface TrendSteps {
  readonly bindings: readonly AliasBinding[];
  readonly windowMs: number;
}

/** `.trend_aggregate(..)`: results per partition and window instead of matches. */
export function lowerTrendAggregate(at: Position, { bindings, windowMs }: TrendSteps): LoweredOperator {
  const calls: TrendCall[] = [];
  const single = bindings.map((binding) => ({ ...binding, closure: false }));
  const keys = keyFields(at.partition);
  const outside = recordShape('the result of `.trend_aggregate`', keys, { attributes: WINDOW_ATTRIBUTES });
  const scope = interceptScope(slotScope(single, outside), (node) => interceptCall(node, { at, calls, bindings }));
  const items = lowerNamed(at.call.rest, scope, at.context);
  const fields = [...keys.filter(({ name }) => !items.some((item) => item.name === name)), ...fieldsOf(items)];
  const shape: RowShape = recordShape('the result of `.trend_aggregate`', fields, { attributes: WINDOW_ATTRIBUTES });
  const stage = {
    rows: { kind: 'match', bindings: single, shape, own: shape },
    window: 'aggregated',
    aggregated: true,
    carries: [],
  } as const;
  return { plans: [keyedPlan(at, 'trend_aggregate', { windowMs, calls, items })], stage };
}

interface Collecting {
  readonly at: Position;
  readonly calls: TrendCall[];
  readonly bindings: readonly AliasBinding[];
}

function interceptCall(node: Expression, collecting: Collecting): PlanExpression | undefined {
  if (node.kind === 'Filtered') {
    collecting.at.context.report(
      'E073',
      node.span,
      'an aggregate over trends takes no `where`',
      'write the condition on the step of the pattern',
    );
    return UNRESOLVED;
  }
  const callee = node.kind === 'Call' ? unwrapped(node.callee) : undefined;
  if (node.kind !== 'Call' || callee?.kind !== 'Name') return undefined;
  const form = Object.hasOwn(trendFunctions, callee.name) ? trendFunctions[callee.name as TrendFunction] : undefined;
  if (form === undefined) return refuseOrdinary(node, callee.name, collecting.at.context);
  return collect(node, { function: callee.name as TrendFunction, form }, collecting);
}

const ordinaryAggregates = new Set([
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'stddev',
  'variance',
  'median',
  'collect',
  'ema',
  'rate',
  'first',
  'last',
]);

/** Functions of the language pass; aggregates of windows and misspelled ones do not. */
function refuseOrdinary(node: Call, name: string, context: CheckContext): PlanExpression | undefined {
  const names = Object.keys(trendFunctions);
  const nearest = ordinaryAggregates.has(name) ? names.find((each) => each.startsWith(`${name}_`)) : nearestName(name, names);
  if (!ordinaryAggregates.has(name) && !nearest) return undefined;
  context.report(
    'E070',
    node.callee.span,
    `\`${name}\` is no aggregate over trends`,
    nearest ? `did you mean \`${nearest}\`?` : `there are ${names.join(', ')}`,
  );
  return UNRESOLVED;
}

interface Written {
  readonly function: TrendFunction;
  readonly form: 'none' | 'alias' | 'value';
}

function collect(node: Call, { function: name, form }: Written, { at, calls, bindings }: Collecting): PlanExpression {
  const { context } = at;
  const wanted = form === 'none' ? 0 : 1;
  if (node.arguments.length !== wanted) {
    const takes = form === 'none' ? 'no argument' : form === 'alias' ? 'one argument, the alias of a step' : 'one argument, like `b.price`';
    context.report('E071', node.span, `\`${name}\` takes ${takes}`);
    return UNRESOLVED;
  }
  const [argument] = node.arguments;
  const value = argument && expressionOf(argument, context);
  const binding = value && bindingOf(value, bindings, context);
  if (value && !binding) return UNRESOLVED;
  const lowered = value && binding && form === 'value' ? lowerOnEvent(value, name, binding, context) : null;
  const call: TrendCall = { function: name, slot: binding?.slot ?? null, argument: lowered };
  const known = calls.findIndex(
    (each) =>
      context.fingerprint(each) === context.fingerprint(call) && promiseSame(each.argument?.type ?? ANY, call.argument?.type ?? ANY),
  );
  return { kind: 'aggregate', index: known >= 0 ? known : calls.push(call) - 1, type: resultType(name, lowered) };
}

function resultType(name: TrendFunction, argument: PlanExpression | null): Type {
  if (name === 'count_trends' || name === 'count_events') return INT;
  return argument && (name === 'min_trends' || name === 'max_trends') ? argument.type : FLOAT;
}

/** The one step that an argument is about. */
function bindingOf(node: Expression, bindings: readonly AliasBinding[], context: CheckContext): AliasBinding | undefined {
  const named = new Set<AliasBinding>();
  walk(node, (part) => {
    const binding = part.kind === 'Name' ? bindings.find(({ alias }) => alias === part.name) : undefined;
    if (binding) named.add(binding);
    return true;
  });
  const [only, ...others] = named.size > 0 ? [...named] : bindings.filter(({ closure }) => closure);
  if (only && others.length === 0) return only;
  const names = bindings.map(({ alias }) => `\`${alias}\``).join(', ');
  context.report(
    'E072',
    node.span,
    'the argument must be about one step of the pattern',
    names ? `the steps are ${names}` : 'give the step an alias: `A+ as a`',
  );
  return undefined;
}

/** Times have an order and no sum. */
function lowerOnEvent(node: Expression, name: TrendFunction, { alias, shape }: AliasBinding, context: CheckContext): PlanExpression {
  const scope: NameScope = rowScope(shape, [alias]);
  const value = lowerExpression(node, scope, context);
  const hasOrderAlone = value.type.kind === 'timestamp';
  const isSum = name === 'sum_trends' || name === 'avg_trends';
  if (isNumeric(value.type) || ['any', 'duration'].includes(value.type.kind) || (hasOrderAlone && !isSum)) return value;
  context.report('E072', node.span, `aggregates over trends take numbers${hasOrderAlone ? `, and \`${name}\` no times` : ''}`);
  return value;
}
