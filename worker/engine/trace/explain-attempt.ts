import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { FilterPlan, OperatorPlan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import { type Row, scopeOf } from '../operators/row.ts';
import { type ConditionReader, judge } from './condition.ts';
import { eventOf } from './explain-pattern.ts';
import type { Attempt, Decision } from './explanation.ts';
import { expressionText, shortText } from './expression-text.ts';
import type { RecordedAttempt, RecordedDecision } from './key-record.ts';

/** How far a row came, with what decided. */
export function explainAttempt({ kind, row, decisions }: RecordedAttempt, reader: ConditionReader): Attempt {
  return { kind, event: eventOf(row), decisions: decisions.map((decision) => explainDecision(decision, reader)) };
}

const NOTHING: Pick<Decision, 'why' | 'values'> = { why: '', values: new Map() };

function explainDecision({ plan, verdict, row, failure }: RecordedDecision, reader: ConditionReader): Decision {
  const operator = plan?.text ?? 'source';
  if (failure !== null) return { operator, verdict, why: failure, values: new Map() };
  if (plan === null || verdict !== 'BLOCK') return { operator, verdict, ...NOTHING };
  return { operator, verdict, ...blockReason(plan, row, reader) };
}

/** Why an operator held a row back, with the values that decided; empty where its name says it. */
export function blockReason(plan: OperatorPlan, row: Row, reader: ConditionReader): Pick<Decision, 'why' | 'values'> {
  if (plan.kind === 'filter') return filterReason(plan, row, reader);
  if (plan.kind === 'limit') return { ...NOTHING, why: `it has passed ${plan.count} already` };
  if (plan.kind === 'throttle') return { ...NOTHING, why: `it has passed ${plan.count} in that time` };
  if ((plan.kind === 'distinct' || plan.kind === 'dedupe') && plan.key !== null) return repeatReason(plan.key, row, reader);
  return NOTHING;
}

function filterReason({ condition }: FilterPlan, row: Row, reader: ConditionReader): Pick<Decision, 'why' | 'values'> {
  const { failed } = judge(condition, scopeOf(row), reader);
  return failed === null ? NOTHING : { why: failed.text, values: failed.values };
}

function repeatReason(key: PlanExpression, row: Row, reader: ConditionReader): Pick<Decision, 'why' | 'values'> {
  const text = expressionText(key, reader.names);
  const value = readValue(key, row, reader);
  return { why: `${text} (${shortText(value)}) has passed before`, values: new Map([[text, value]]) };
}

function readValue(expression: PlanExpression, row: Row, reader: ConditionReader): Value {
  try {
    return reader.evaluator(expression)(scopeOf(row));
  } catch (thrown) {
    if (thrown instanceof EvaluationError) return null;
    throw thrown;
  }
}
