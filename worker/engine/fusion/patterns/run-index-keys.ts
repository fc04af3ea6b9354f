import type { PatternPlan, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { type EqualityKey, equalityKeyOf } from '../../patterns/equality-key.ts';
import { type Automaton, type AutomatonState, statesByTime } from './automaton.ts';
import type { PatternInput } from './pattern-input.ts';
import type { Kept, RunForm } from './run-form.ts';

/**
 * By state: the value of a run that a field of its next event must equal, whichever step takes it; runs in that state are
 * found by it. Null where there is no such value; they are then asked one after the other.
 */
export function runIndexKeysOf(
  plan: PatternPlan,
  automaton: Automaton,
  form: RunForm,
  inputs: readonly PatternInput[],
  isPartitioned: boolean,
): readonly (Kept | null)[] {
  // A match, or any event, may end all runs of its partition.
  const needsLists = (isPartitioned && plan.afterMatch === 'skip_past_last') || plan.selection === 'strict';
  return automaton.states.map((state) => {
    if (needsLists) return null;
    const keys = keysOf(plan, state);
    const [first] = keys;
    if (first === undefined || automaton.isList[first.heldSlot] === true || state.captured[first.heldSlot] === false) return null;
    if (!keys.every(({ heldSlot, heldField }) => heldSlot === first.heldSlot && heldField === first.heldField)) return null;
    const kept = form.field(first.heldSlot, first.heldField);
    if (kept === undefined || kept.as === 'value') return null;
    const isSame = inputs.every((input) => isFoundBy(input, kept, plan, state));
    return isSame ? kept : null;
  });
}

/** The condition of a step, or (numbered behind the steps) that of a `.not(..)`. */
export function whereOf({ steps, cancels }: PatternPlan, id: number): PlanExpression | null {
  return (id < steps.length ? steps[id]?.where : cancels[id - steps.length]?.where) ?? null;
}

/** What a run in a state waits with: its next steps, the `NOT` in force, every `.not(..)`. */
export function watchesOf({ transitions, absence }: AutomatonState, { steps, cancels }: PatternPlan): readonly number[] {
  const own = [...transitions.map(({ slot }) => slot), ...(absence?.slots ?? [])];
  return [...own, ...cancels.map((_, index) => steps.length + index)];
}

/** All of that, and what it waits with when the time of `NOT`s is over. */
function allWatchesOf(state: AutomatonState, plan: PatternPlan): readonly number[] {
  return [...watchesOf(state, plan), ...statesByTime(state).flatMap(({ transitions }) => transitions.map(({ slot }) => slot))];
}

/** The equalities among them; nothing when one has none. */
function keysOf(plan: PatternPlan, state: AutomatonState): readonly EqualityKey[] {
  const keys = allWatchesOf(state, plan).map((id) => equalityKeyOf(whereOf(plan, id), id));
  return keys.every((key) => key !== null) ? keys : [];
}

/** An event that concerns the state's runs finds all of them by one of its fields, which is a value of the same kind. */
function isFoundBy(input: PatternInput, { as }: Kept, plan: PatternPlan, state: AutomatonState): boolean {
  const fields = new Set(fieldsOf(input, plan, state));
  const [only] = fields;
  return only === undefined || (fields.size === 1 && input.representation(only) === as);
}

function fieldsOf({ relevance }: PatternInput, plan: PatternPlan, state: AutomatonState): readonly string[] {
  const ids = allWatchesOf(state, plan).filter((id) => relevance.isWatched[id]);
  return ids.map((id) => (equalityKeyOf(whereOf(plan, id), id) as EqualityKey).field);
}

/** The field of an event by which it finds the runs of a state. */
export function fieldThatFinds(input: PatternInput, plan: PatternPlan, state: AutomatonState): string {
  return fieldsOf(input, plan, state)[0] as string;
}

/** The condition for a run that was found by its equality: what else it asks. */
export function residualOf(plan: PatternPlan, id: number): PlanExpression | null {
  const where = whereOf(plan, id);
  const key = equalityKeyOf(where, id);
  return where === null || key === null ? where : without(where, key);
}

/** The equality by which runs are found; null = there is none. */
export function equalityOf(plan: PatternPlan, id: number): PlanExpression | null {
  const where = whereOf(plan, id);
  const key = equalityKeyOf(where, id);
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
