import type { BinaryExpression, PlanExpression, StreamPlan } from '../../../../shared/language/plan/plan.ts';
import type { RuleBounds } from './rule-index.ts';

/**
 * Where a stream's first condition can hold at all: undefined when the stream has none, or none that compares a field with a
 * constant. An equality is preferred to a range.
 */
export function boundsOf({ source, operators }: StreamPlan): RuleBounds | undefined {
  if (source.kind !== 'events' || source.inputs.length !== 1) return undefined;
  const first = [...(source.inputs[0]?.operators ?? []), ...operators][0];
  if (first?.kind !== 'filter') return undefined;
  const comparisons = conjuncts(first.condition).flatMap((one) => comparisonOf(one) ?? []);
  const equality = comparisons.find(({ operator }) => operator === '==');
  if (equality !== undefined) return { kind: 'equals', column: equality.column, value: equality.value };
  return rangeOf(comparisons);
}

interface Comparison {
  readonly column: string;
  readonly operator: '==' | '<' | '>';
  readonly value: string | number | boolean;
}

function conjuncts(condition: PlanExpression): readonly PlanExpression[] {
  if (condition.kind !== 'logical' || condition.operator !== 'and') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}

const turned: Partial<Record<BinaryExpression['operator'], BinaryExpression['operator']>> = {
  '<': '>',
  '>': '<',
  '<=': '>=',
  '>=': '<=',
  '==': '==',
};

/** A field against a constant; `<=` counts as `<`: what is found too much does not matter. */
function comparisonOf(node: PlanExpression): Comparison | undefined {
  if (node.kind !== 'binary') return undefined;
  const isTurned = node.left.kind === 'constant';
  const [field, constant] = isTurned ? [node.right, node.left] : [node.left, node.right];
  const operator = isTurned ? turned[node.operator] : node.operator;
  if (field.kind !== 'field' || field.of.kind !== 'current' || constant.kind !== 'constant') return undefined;
  const { value } = constant;
  if (operator === '==') {
    const isSame = (field.type.kind === 'str' && typeof value === 'string') || (isNumber(field) && typeof value === 'number');
    return isSame ? { column: field.name, operator, value: value as string | number } : undefined;
  }
  if (!isNumber(field) || typeof value !== 'number') return undefined;
  if (operator === '<' || operator === '<=') return { column: field.name, operator: '<', value };
  return operator === '>' || operator === '>=' ? { column: field.name, operator: '>', value } : undefined;
}

function isNumber({ type }: PlanExpression): boolean {
  return type.kind === 'int' || type.kind === 'float';
}

/** The range of the column that is bounded on both sides, else of the first. */
function rangeOf(comparisons: readonly Comparison[]): RuleBounds | undefined {
  const ranges = new Map<string, { low: number; high: number }>();
  for (const { column, operator, value } of comparisons) {
    const range = ranges.get(column) ?? { low: -Infinity, high: Infinity };
    if (operator === '<') range.high = Math.min(range.high, value as number);
    else range.low = Math.max(range.low, value as number);
    ranges.set(column, range);
  }
  const [chosen] = [...ranges].sort((a, b) => openEnds(a[1]) - openEnds(b[1]));
  return chosen && { kind: 'between', column: chosen[0], ...chosen[1] };
}

function openEnds({ low, high }: { readonly low: number; readonly high: number }): number {
  return (low === -Infinity ? 1 : 0) + (high === Infinity ? 1 : 0);
}
