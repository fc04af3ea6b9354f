import { EvaluationError } from '../../events/evaluation-error.ts';
import { kindOf, type Value } from '../../events/value.ts';

/** What `and`, `or` and `not` make of an operand: null is false. @throws EvaluationError for what is no bool. */
export function truth(value: Value, operator: 'and' | 'or' | 'not'): boolean {
  if (value === true) return true;
  if (value === false || value === null) return false;
  throw new EvaluationError(`cannot apply ${operator} to ${kindOf(value)}`);
}

/** Whether a condition holds: null is false. @throws EvaluationError for what is no bool. */
export function holds(value: Value): boolean {
  if (value === true) return true;
  if (value === false || value === null) return false;
  throw new EvaluationError(`a condition is a bool, not ${kindOf(value)}`);
}

/** Whether a value can be a condition. */
export function isCondition(value: Value): value is boolean | null {
  return value === null || typeof value === 'boolean';
}
