import type { PlanExpression, RowReference } from '../../shared/language/plan/plan.ts';
import { boundRow, capturesOf } from '../../worker/engine/evaluate/row-reading.ts';
import type { Evaluate, Row, Scope } from '../../worker/engine/operators/row.ts';

/** Finds the row that a reference names; null when there is none, and then every field of it reads as null. */
export type FindRow = (scope: Scope) => Row | null;

export function findRow(reference: RowReference, expression: (plan: PlanExpression) => Evaluate): FindRow {
  switch (reference.kind) {
    case 'current':
      return (scope) => scope.row;
    case 'slot': {
      const { slot } = reference;
      return (scope) => boundRow(scope.bound[slot]);
    }
    case 'item':
      return findItem(reference.slot, reference.at, expression);
  }
}

function findItem(
  slot: number,
  at: Extract<RowReference, { kind: 'item' }>['at'],
  expression: (plan: PlanExpression) => Evaluate,
): FindRow {
  if (at === 'first') return (scope) => capturesOf(scope.bound[slot])[0] ?? null;
  if (at === 'last') return (scope) => capturesOf(scope.bound[slot]).at(-1) ?? null;
  if (at === 'prev') return (scope) => capturesOf(scope.bound[slot]).at(-2) ?? null;
  const index = expression(at);
  return (scope) => {
    const position = index(scope);
    return typeof position === 'number' && Number.isInteger(position) ? (capturesOf(scope.bound[slot]).at(position) ?? null) : null;
  };
}
