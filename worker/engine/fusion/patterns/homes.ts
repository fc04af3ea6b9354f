import type { PatternPlan, PlanExpression, StepPlan } from '../../../../shared/language/plan/plan.ts';
import { type EqualityKey, equalityKeyOf } from '../../patterns/equality-key.ts';
import type { Automaton, AutomatonState } from './automaton.ts';
import type { Candidate } from './candidate.ts';
import type { Kept, RunForm } from './run-form.ts';

/**
 * By state: the value of a run that a field of its next event must equal, whichever step takes it; runs in that state are
 * found by it. Null where there is no such value; they are then asked one after the other.
 */
export function homesOf(
  plan: PatternPlan,
  automaton: Automaton,
  form: RunForm,
  candidates: readonly Candidate[],
): readonly (Kept | null)[] {
  return automaton.states.map((state) => {
    const keys = keysOf(plan, state);
    const [first] = keys;
    if (first === undefined || automaton.isList[first.heldSlot] === true || state.captured[first.heldSlot] === false) return null;
    if (!keys.every(({ heldSlot, heldField }) => heldSlot === first.heldSlot && heldField === first.heldField)) return null;
    const kept = form.field(first.heldSlot, first.heldField);
    const isSame = candidates.every((candidate) => isFoundBy(candidate, kept, plan, state));
    return isSame && kept.as !== 'value' ? kept : null;
  });
}

/** The equalities of the steps that may be next; nothing when one of them has none. */
function keysOf(plan: PatternPlan, state: AutomatonState): readonly EqualityKey[] {
  const keys = slotsOf(state).map((slot) => equalityKeyOf((plan.steps[slot] as StepPlan).where, slot));
  return keys.every((key) => key !== null) ? keys : [];
}

/** An event that concerns the state's runs finds all of them by one of its fields, which is a value of the same kind. */
function isFoundBy(candidate: Candidate, { as }: Kept, plan: PatternPlan, state: AutomatonState): boolean {
  const fields = new Set(fieldsOf(candidate, plan, state));
  const [only] = fields;
  return only === undefined || (fields.size === 1 && candidate.representation(only) === as);
}

/** All steps whose events concern a run in the state: also that of a `NOT`, and those behind it. */
function slotsOf({ transitions, absence, passed }: AutomatonState): readonly number[] {
  return [...transitions, ...(passed?.transitions ?? []), ...(absence === null ? [] : [absence])].map(({ slot }) => slot);
}

function fieldsOf(candidate: Candidate, plan: PatternPlan, state: AutomatonState): readonly string[] {
  const slots = slotsOf(state).filter((slot) => candidate.slots.includes(slot));
  return slots.map((slot) => (equalityKeyOf((plan.steps[slot] as StepPlan).where, slot) as EqualityKey).field);
}

/** The field of an event by which it finds the runs of a state. */
export function fieldThatFinds(candidate: Candidate, plan: PatternPlan, state: AutomatonState): string {
  return fieldsOf(candidate, plan, state)[0] as string;
}

/** The condition of a step for a run that was found by its equality: what else it asks. */
export function residualOf({ where, slot }: StepPlan): PlanExpression | null {
  const key = equalityKeyOf(where, slot);
  return where === null || key === null ? where : without(where, key);
}

/** The equality by which a step's runs are found; null = it has none. */
export function equalityOf({ where, slot }: StepPlan): PlanExpression | null {
  const key = equalityKeyOf(where, slot);
  return where === null || key === null ? null : found(where, key);
}

function found(plan: PlanExpression, key: EqualityKey): PlanExpression | null {
  if (plan.kind === 'logical' && plan.operator === 'and') return found(plan.left, key) ?? found(plan.right, key);
  return isEquality(plan, key) ? plan : null;
}

function without(plan: PlanExpression, key: EqualityKey): PlanExpression | null {
  if (plan.kind === 'logical' && plan.operator === 'and') {
    const [left, right] = [without(plan.left, key), without(plan.right, key)];
    return left === null ? right : right === null ? left : { ...plan, left, right };
  }
  return isEquality(plan, key) ? null : plan;
}

function isEquality(plan: PlanExpression, { field, heldSlot, heldField }: EqualityKey): boolean {
  if (plan.kind !== 'binary' || plan.operator !== '==') return false;
  const isCandidate = (side: PlanExpression): boolean => side.kind === 'field' && side.of.kind === 'current' && side.name === field;
  const isHeld = (side: PlanExpression): boolean =>
    side.kind === 'field' && side.of.kind === 'slot' && side.of.slot === heldSlot && side.name === heldField;
  return (isCandidate(plan.left) && isHeld(plan.right)) || (isHeld(plan.left) && isCandidate(plan.right));
}
