import { Body } from '../module-text.ts';
import { typedOf } from '../print-typed.ts';
import { Refusal, TRUE_TYPED, type Typed } from '../typed.ts';
import { type AutomatonState, statesByTime } from './automaton.ts';
import { conditionIn } from './conditions.ts';
import { concernsRuns, transitionsFor } from './handler-names.ts';
import { isCompared } from './pattern-algorithm.ts';
import type { PatternInput } from './pattern-input.ts';
import type { ConditionParts, DecidedConditions } from './pattern-parts.ts';
import { fieldThatFinds, residualOf, whereOf } from './run-index-keys.ts';
import { slotTakenByAll } from './shared-closure-text.ts';

/** Decides what the functions for a pattern's events ask of them. All that these read of an event is known to its input then. */
export function decideConditions(parts: ConditionParts, inputs: readonly PatternInput[]): DecidedConditions | Refusal {
  const { automaton } = parts;
  const failing = new Set<PatternInput>();
  const sharing = new Map<number, number>();
  for (const input of inputs) {
    const why = whyNoKey(parts, input);
    const states = why === null ? statesThatFail(parts, input) : new Refusal(why);
    if (states instanceof Refusal) return states;
    if (states.length > 0) failing.add(input);
    // Which run's condition fails first would depend on more than one list.
    if (states.filter((state) => state !== automaton.initial).length > 1) return new Refusal('conditions of several steps may fail');
    for (const state of automaton.states) {
      const slot = slotTakenByAll(parts, state, input);
      if (slot !== null) sharing.set(state.id, slot);
    }
  }
  for (const input of inputs) readAll(parts, input, failing.has(input));
  return { failing, sharing: new Map([...sharing].sort(([a], [b]) => a - b)) };
}

function whyNoKey({ stream, module }: ConditionParts, input: PatternInput): string | null {
  for (const { value } of stream.partition.keys) {
    const typed = typedOf(value, { module, body: new Body(module.names), readable: input });
    if (typed instanceof Refusal) return typed.why;
    if (typed.canFail || typed.as === 'value') return 'the key may fail, or be of any kind';
  }
  return null;
}

/** Why it cannot be told of the event that it goes on as `.increasing(f)` says, for a run in a state; null = it can, or nothing is said. */
function whyNotMonotone(
  { plan: { monotone }, form }: ConditionParts,
  slot: number,
  state: AutomatonState,
  input: PatternInput,
): string | null {
  if (monotone?.slot !== slot || monotone.value.kind !== 'field') return null;
  const { of, name } = monotone.value;
  const field = input.field(of, name);
  const isKept = state.captured[slot] === false || form.field(slot, name) !== undefined;
  return field !== undefined && isCompared(field.as) && isKept ? null : 'what rises or falls is no number';
}

/** The states in which a condition may fail that is asked of the event. */
function statesThatFail(parts: ConditionParts, input: PatternInput): readonly AutomatonState[] | Refusal {
  const { automaton, plan } = parts;
  const states: AutomatonState[] = [];
  for (const state of [automaton.initial, ...automaton.states]) {
    if (state !== automaton.initial && !concernsRuns(input, state, plan)) continue;
    const canFail = mayFail(parts, state, input);
    if (canFail instanceof Refusal) return canFail;
    if (canFail) states.push(state);
  }
  return states;
}

/** Whether something may fail that is asked of the event for runs in a state, or for one that it opens. */
function mayFail(parts: ConditionParts, state: AutomatonState, input: PatternInput): boolean | Refusal {
  const { automaton, form, indexKeys, module, plan } = parts;
  const isInitial = state === automaton.initial;
  const asking = { input, form, state, run: isInitial ? null : 'r0' };
  const asked = (id: number): Typed | Refusal => {
    const where = isInitial || indexKeys[state.id] === null ? whereOf(plan, id) : residualOf(plan, id);
    return where === null ? TRUE_TYPED : conditionIn(where, asking, { module, body: new Body(module.names) });
  };
  const ends = isInitial ? [] : [...(state.absence?.slots ?? []), ...input.relevance.cancels];
  const conditions = ends.filter((id) => input.relevance.isWatched[id]).map(asked);
  for (const one of [state, ...statesByTime(state)]) {
    for (const { slot, earliestMs, latestMs } of transitionsFor(input, one)) {
      const condition = asked(slot);
      const why = whyNotMonotone(parts, slot, state, input);
      conditions.push(why === null ? condition : new Refusal(why));
      // It takes every event: the steps behind it are not asked.
      if (condition === TRUE_TYPED && earliestMs === -Infinity && latestMs === Infinity) break;
    }
  }
  return conditions.find((one) => one instanceof Refusal) ?? conditions.some((one) => one instanceof Refusal || one.canFail);
}

/** What is read of the event besides: what finds runs, and what they and their matches keep. */
function readAll({ automaton, form, indexKeys, plan }: ConditionParts, input: PatternInput, canFail: boolean): void {
  const all = [automaton.initial, ...automaton.states];
  const slots = new Set(all.flatMap((state) => transitionsFor(input, state).map(({ slot }) => slot)));
  for (const slot of slots) form.readFrom(input, slot);
  for (const state of automaton.states) {
    if (indexKeys[state.id] !== null && concernsRuns(input, state, plan))
      input.field({ kind: 'current' }, fieldThatFinds(input, plan, state));
  }
  if (canFail) input.valueOf({ aspect: 'row', name: '', as: 'value' });
}
