import { Duration } from '../../../events/value.ts';
import type { PlanExpression } from '../../plan/plan.ts';
import { DURATION, isAssignable, isNumeric, type Type } from '../../plan/types.ts';
import { constant, fold } from './fold.ts';

/** The value as it goes into a field of this type; undefined when it can never fit. A duration becomes milliseconds in a number field. */
export function fitInto(value: PlanExpression, type: Type): PlanExpression | undefined {
  if (isAssignable(value.type, type)) return value;
  if (value.type.kind !== 'duration' || !isNumeric(type)) return undefined;
  return fold({ kind: 'binary', operator: '/', left: value, right: constant(new Duration(1), DURATION), type });
}
