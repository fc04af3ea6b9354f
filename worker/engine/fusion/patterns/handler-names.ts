import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import type { Body } from '../module-text.ts';
import { type Automaton, type AutomatonState, statesByTime, type Transition } from './automaton.ts';
import type { PatternInput } from './pattern-input.ts';
import { watchesOf } from './run-index-keys.ts';

/** The names that the handler of one origin's events uses, and what kind of handler it is. */
export interface HandlerNames {
  readonly input: PatternInput;
  readonly body: Body;
  /** Position of the event. */
  readonly at: string;
  /** The partition's key; null without partition. */
  readonly key: string | null;
  /** The partition's lists; null where every state finds its runs by a value. */
  readonly lists: string | null;
  /** Whether a run has taken the event; null where nothing depends on it. */
  readonly isTaken: string | null;
  /** Whether a match has ended all runs; null where none does, or matches are collected first. */
  readonly isEnded: string | null;
  /** Whether the event is late for a run that it would have begun; null where the event begins none that could be over. */
  readonly isLate: string | null;
  readonly isCollecting: boolean;
  /** Conditions are only tried: nothing is taken, ended or begun. */
  readonly isTrial: boolean;
}

/** Whether the matches that an event of an origin gives must be put in order: it may complete runs that stand in different states. */
export function collectsMatches({ states, waitsForEvents }: Automaton, input: PatternInput): boolean {
  const isCompleted = (state: AutomatonState): boolean =>
    [state, ...statesByTime(state)].some((one) => transitionsFor(input, one).some(({ emits }) => emits));
  return waitsForEvents || states.filter(isCompleted).length > 1;
}

/** Whether the event may complete a match. */
export function emitsFor(input: PatternInput, { initial, states }: Automaton): boolean {
  return [initial, ...states].some((state) => transitionsFor(input, state).some(({ emits }) => emits));
}

/** The steps by which runs in a state may take the event, in order. */
export function transitionsFor(input: PatternInput, { transitions }: AutomatonState): readonly Transition[] {
  return transitions.filter(({ slot }) => input.slots.includes(slot));
}

/** Under `.strict()` an event of the sources that no step takes ends the run. */
export function breaksRuns({ relevance }: PatternInput, { selection }: PatternPlan): boolean {
  return selection === 'strict' && relevance.isStepSource;
}

/** Whether the event may do something to runs in a state. */
export function concernsRuns(input: PatternInput, state: AutomatonState, plan: PatternPlan): boolean {
  return !state.isOver && (breaksRuns(input, plan) || watchesOf(state, plan).some((id) => input.relevance.isWatched[id]));
}
