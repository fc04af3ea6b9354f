import { toText } from '../../../../events/text.ts';
import { Duration } from '../../../../events/value.ts';
import type { AggregatePlan, PlanExpression } from '../../../plan/plan.ts';
import type { Position } from './position.ts';

/** W051: behind a window a condition asks for a count of nothing, and an empty window gives no result. */
export function warnNeverZero(condition: PlanExpression, { stage, before, context, call, draft }: Position): void {
  if (stage.window !== 'aggregated') return;
  const source = before.find((plan) => plan.kind === 'window');
  const aggregate = before.findLast((plan) => plan.kind === 'window' || plan.kind === 'window_aggregate')?.aggregate ?? null;
  const name = conjuncts(condition)
    .map(zeroOf)
    .find((field) => field !== undefined && isCount(field, aggregate));
  if (name === undefined) return;
  const { source: node } = draft.symbol.node;
  const type = node.kind === 'NamedSource' ? context.text(node.span).split(' ')[0] : 'X';
  const within = source?.kind === 'window' && source.window.kind === 'time' ? toText(new Duration(source.window.sizeMs)) : 'd';
  context.report(
    'W051',
    call.node.span,
    `\`${name}\` is never 0 here: an empty window gives no result`,
    `what did not happen is a pattern: \`${type} as a -> NOT ${type} where .. within ${within}\``,
  );
}

function conjuncts(condition: PlanExpression): readonly PlanExpression[] {
  if (condition.kind !== 'logical' || condition.operator !== 'and') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}

/** The field that is to be 0: `n == 0`, `n < 1`, `n <= 0`, either way round. */
function zeroOf(condition: PlanExpression): string | undefined {
  if (condition.kind !== 'binary') return undefined;
  const { operator, left, right } = condition;
  return zeroAs(operator, left, right) ?? zeroAs(MIRRORED[operator] ?? operator, right, left);
}

const MIRRORED: Readonly<Record<string, string>> = { '>': '<', '>=': '<=' };
const ZERO: Readonly<Record<string, number>> = { '==': 0, '<=': 0, '<': 1 };

function zeroAs(operator: string, field: PlanExpression, bound: PlanExpression): string | undefined {
  const isRead = field.kind === 'field' && field.of.kind === 'current';
  return isRead && bound.kind === 'constant' && bound.value === ZERO[operator] ? field.name : undefined;
}

/** Counts all events, with no filter and whatever their values. */
function isCount(name: string, aggregate: AggregatePlan | null): boolean {
  const value = aggregate?.items.find((item) => item.name === name)?.value;
  const counted = value?.kind === 'aggregate' ? aggregate?.calls[value.index] : undefined;
  return counted?.function === 'count' && counted.arguments.length === 0 && counted.filter === null;
}
