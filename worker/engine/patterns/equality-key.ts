import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import type { FieldExpression, PlanExpression } from '../../../shared/language/plan/plan.ts';

/** `field == a.other`: what a candidate's field must equal, by a field of what the run already holds. */
export interface EqualityKey {
  readonly field: string;
  readonly heldSlot: number;
  readonly heldField: string;
}

/**
 * An equality between a field of the candidate and a field of another step that must hold for the condition to hold. Only
 * one that nothing before it can fail: whoever leaves out runs by this key must leave out no evaluation failure with them.
 */
export function equalityKeyOf(where: PlanExpression | null, ownSlot: number): EqualityKey | null {
  for (const conjunct of where === null ? [] : conjunctsOf(where)) {
    const key = asEqualityKey(conjunct, ownSlot);
    if (key !== null) return key;
    if (!cannotFail(conjunct)) return null;
  }
  return null;
}

function conjunctsOf(expression: PlanExpression): readonly PlanExpression[] {
  const isConjunction = expression.kind === 'logical' && expression.operator === 'and';
  return isConjunction ? [...conjunctsOf(expression.left), ...conjunctsOf(expression.right)] : [expression];
}

function asEqualityKey(expression: PlanExpression, ownSlot: number): EqualityKey | null {
  if (expression.kind !== 'binary' || expression.operator !== '==') return null;
  const { left, right } = expression;
  if (left.kind !== 'field' || right.kind !== 'field') return null;
  return pair(left, right, ownSlot) ?? pair(right, left, ownSlot);
}

function pair(candidate: FieldExpression, held: FieldExpression, ownSlot: number): EqualityKey | null {
  if (candidate.of.kind !== 'current' || held.of.kind !== 'slot' || held.of.slot === ownSlot) return null;
  return { field: candidate.name, heldSlot: held.of.slot, heldField: held.name };
}

/** Reads and comparisons give null where they do not apply; only values nested too deep fail, and then anywhere. */
function cannotFail(expression: PlanExpression): boolean {
  switch (expression.kind) {
    case 'constant':
    case 'field':
    case 'attribute':
      return true;
    case 'binary':
      return ORDERINGS.has(expression.operator) && isScalarRead(expression.left) && isScalarRead(expression.right);
    case 'is_null':
      return cannotFail(expression.operand);
    case 'unless_first':
      return cannotFail(expression.condition);
    default:
      return false;
  }
}

const ORDERINGS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

function isScalarRead(expression: PlanExpression): boolean {
  return expression.kind === 'constant' || expression.kind === 'field' || expression.kind === 'attribute';
}

/** What equal scalars share. Undefined: equals nothing. Null: a list or a map, to be compared in full. */
export type IndexKey = string | number | boolean | null | undefined;

export function indexKeyOf(value: Value): IndexKey {
  if (value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (value instanceof Duration) return value.ms;
  if (value instanceof Timestamp) return `\u0000t${value.ms}`;
  return null;
}
