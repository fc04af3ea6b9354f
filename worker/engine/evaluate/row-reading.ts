import { Timestamp, type Value } from '../../../shared/events/value.ts';
import type { AttributeName, PlanExpression, RowReference } from '../../../shared/language/plan/plan.ts';
import type { Binding, Evaluate, Row, Scope } from '../operators/row.ts';

/** Finds the row that a reference names; null when there is none, and then every field of it reads as null. */
export type FindRow = (scope: Scope) => Row | null;

const NONE: readonly Row[] = [];

/** What a slot holds, as a list: the captures of a closure, the one row of a step, or nothing. */
export function capturesOf(binding: Binding | undefined): readonly Row[] {
  if (binding === null || binding === undefined) return NONE;
  return isCaptures(binding) ? binding : [binding];
}

/** The row of a step, the last capture of a closure. */
export function boundRow(binding: Binding | undefined): Row | null {
  if (binding === null || binding === undefined) return null;
  return isCaptures(binding) ? (binding.at(-1) ?? null) : binding;
}

function isCaptures(binding: Row | readonly Row[]): binding is readonly Row[] {
  return Array.isArray(binding);
}

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

/** A field of a row: its own, else (directly behind a pattern) that of the match's last event. */
export function fieldOf(row: Row, name: string): Value {
  const own = row.fields.get(name);
  if (own !== undefined) return own;
  return row.last?.fields.get(name) ?? null;
}

export function attributeOf(row: Row, name: AttributeName): Value {
  if (name === 'event_type') return row.type;
  if (name === 'timestamp') return new Timestamp(row.time);
  return row.attributes?.get(name) ?? null;
}
