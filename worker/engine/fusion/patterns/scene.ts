import type { Body } from '../module-text.ts';
import type { Automaton, AutomatonState, Transition } from './automaton.ts';
import type { Candidate } from './candidate.ts';

/** What the function for the events of one origin uses all over. */
export interface Scene {
  readonly candidate: Candidate;
  readonly body: Body;
  /** Class of the runs. */
  readonly runClass: string;
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
  readonly isCollecting: boolean;
  /** Conditions are only tried: nothing is taken, ended or begun. */
  readonly isTrial: boolean;
}

/** Whether the matches that an event of an origin gives must be put in order: it may complete runs that stand in different states. */
export function collectsMatches({ states, waitsForEvents }: Automaton, candidate: Candidate): boolean {
  const isCompleted = (state: AutomatonState): boolean =>
    [state, ...(state.passed === null ? [] : [state.passed])].some((one) => transitionsFor(candidate, one).some(({ emits }) => emits));
  return waitsForEvents || states.filter(isCompleted).length > 1;
}

/** Whether the event may complete a match. */
export function emitsFor(candidate: Candidate, { initial, states }: Automaton): boolean {
  return [initial, ...states].some((state) => transitionsFor(candidate, state).some(({ emits }) => emits));
}

/** The steps by which runs in a state may take the event, in order. */
export function transitionsFor(candidate: Candidate, { transitions }: AutomatonState): readonly Transition[] {
  return transitions.filter(({ slot }) => candidate.slots.includes(slot));
}
