import { toText } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { FieldExpression, OperatorPlan, PlanExpression, RowReference, SourcePlan } from '../../../shared/language/plan/plan.ts';
import { boundRow, fieldOf } from '../evaluate/row-reading.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';

/** Gives `name=value` for each field that an operator's decision reads, each once, in the order in which it reads them. */
export function decidingValues(plan: OperatorPlan, environment: OperatorEnvironment): (row: Row) => readonly string[] {
  const reads = new Map<string, (row: Row) => Value>();
  for (const expression of decidingExpressions(plan)) {
    for (const field of fieldsIn(expression)) {
      const name = `${slotName(field.of, environment.stream.source)}${field.name}`;
      if (!reads.has(name)) reads.set(name, reading(field));
    }
  }
  return (row) => [...reads].map(([name, evaluate]) => `${name}=${toText(evaluate(row))}`);
}

/** Text of a row's key in its stream; '' without one, and while it cannot be read. */
export function keyIn(environment: Pick<OperatorEnvironment, 'partitionFields'>, row: Row): string {
  try {
    const values = environment.partitionFields(row).map(([, value]) => value);
    return values.includes(null) ? '' : values.map(toText).join(', ');
  } catch (thrown) {
    if (thrown instanceof EvaluationError) return '';
    throw thrown;
  }
}

function reading({ of, name }: FieldExpression): (row: Row) => Value {
  return (row) => {
    const found = of.kind === 'current' ? row : boundRow(row.bound?.[of.slot]);
    return found === null ? null : fieldOf(found, name);
  };
}

function decidingExpressions(plan: OperatorPlan): readonly PlanExpression[] {
  if (plan.kind === 'filter') return [plan.condition];
  if (plan.kind === 'distinct' || plan.kind === 'dedupe') return plan.key === null ? [] : [plan.key];
  return [];
}

/** Fields of rows that stay what they are wherever the expression stands; those of single captures are left out. */
function fieldsIn(node: unknown): readonly FieldExpression[] {
  if (Array.isArray(node)) return node.flatMap(fieldsIn);
  if (typeof node !== 'object' || node === null || node instanceof Map) return [];
  const expression = node as PlanExpression;
  if (expression.kind === 'field') return expression.of.kind === 'item' ? [] : [expression];
  return Object.entries(node).flatMap(([key, child]) => (key === 'type' ? [] : fieldsIn(child)));
}

function slotName(of: RowReference, source: SourcePlan): string {
  if (of.kind === 'current') return '';
  if (source.kind === 'join') return `${source.sides[of.slot]?.name}.`;
  if (source.kind === 'pattern') return `${source.pattern.steps[of.slot]?.alias ?? of.slot}.`;
  return '';
}
