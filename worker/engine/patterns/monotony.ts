import { greater, less } from '../../../shared/language/functions/arithmetic.ts';
import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Row, scopeOf } from '../operators/row.ts';
import type { Captures } from './captures.ts';

/** Whether a step may take an event behind these, as `.increasing(f)` or `.decreasing(f)` says. @throws EvaluationError */
export type KeepsMonotony = (slot: number, row: Row, captures: Captures) => boolean;

export function monotonyOf({ monotone }: PatternPlan, environment: Pick<OperatorEnvironment, 'evaluator'>): KeepsMonotony {
  if (monotone === null) return () => true;
  const evaluate = environment.evaluator(monotone.value);
  const isNext = monotone.direction === 'increasing' ? greater : less;
  return (slot, row, captures) => {
    if (slot !== monotone.slot) return true;
    const value = evaluate(scopeOf(row));
    const previous = captures[slot] ?? null;
    return previous === null ? value !== null : isNext(value, evaluate(scopeOf(previous.row))) === true;
  };
}
