import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import { NO_ROW } from '../../operators/row.ts';
import { buildPatternTree } from '../pattern-tree.ts';
import { type PatternState, StateSpace } from '../state-space.ts';

/** A step by which trends in a state take an event, and where they come to. */
export interface TrendTransition {
  readonly slot: number;
  readonly target: TrendState;
}

/** Where trends can stand. */
export interface TrendState {
  /** Position among those that trends are counted for; -1: such trends are complete and take nothing more. */
  readonly id: number;
  readonly pattern: PatternState;
  readonly isComplete: boolean;
  readonly enabledSteps: readonly TrendTransition[];
  /** Slots of the `NOT`s in force. */
  readonly absent: readonly number[];
  /** What the trends come to when an event fits these of the `NOT`s; null = they end. */
  violated(slots: readonly number[]): TrendState | null;
}

/** More of them, or of the `NOT`s in force at once, would make more generated code than the pattern is worth. */
const MOST_STATES = 16;
const MOST_ABSENT = 3;

/** The states of all trends of a pattern, made as they are reached. */
export function spaceOf(pattern: PatternPlan): StateSpace {
  const plan: PatternPlan = { ...pattern, selection: 'any', emission: 'longest' };
  return new StateSpace(plan, buildPatternTree(plan), null);
}

/** All states that trends can be in, for a pattern in which no time matters. */
export class TrendStates {
  readonly space: StateSpace;
  /** What begins a trend. */
  readonly initial: readonly TrendTransition[];
  /** By id. */
  readonly counted: readonly TrendState[];
  /** There are more of them than are worth it, and not all stand here. */
  readonly areTooMany: boolean;
  readonly #found = new Map<PatternState, Mutable<TrendState>>();
  readonly #captures: readonly null[];
  #isOver = false;

  constructor(plan: PatternPlan) {
    this.space = spaceOf(plan);
    this.#captures = plan.steps.map(() => null);
    this.initial = this.#transitionsOf(this.space.initial);
    this.counted = [...this.#found.values()].filter(({ id }) => id >= 0).sort((a, b) => a.id - b.id);
    this.areTooMany = this.#isOver;
  }

  /** The state that stands for this one; undefined = none does. */
  of(pattern: PatternState): TrendState | undefined {
    return this.#found.get(pattern);
  }

  #visit(pattern: PatternState, isKept: boolean): TrendState {
    let state = this.#found.get(pattern);
    if (state === undefined) {
      const outcomes = new Map<string, TrendState | null>();
      const absent = pattern.absences.map(({ slot }) => slot);
      const violated: TrendState['violated'] = (slots) => outcomes.get(String(slots)) as TrendState | null;
      state = { id: -1, pattern, isComplete: pattern.isComplete, enabledSteps: [], absent, violated };
      this.#found.set(pattern, state);
      this.#isOver ||= this.#found.size > MOST_STATES || pattern.absences.length > MOST_ABSENT;
      if (this.#isOver) return state;
      state.enabledSteps = this.#transitionsOf(pattern);
      for (const slots of subsetsOf(absent)) outcomes.set(String(slots), this.#violated(pattern, slots));
    }
    const isFinal = state.isComplete && state.enabledSteps.length === 0;
    if (state.id < 0 && (isKept || !isFinal)) state.id = [...this.#found.values()].filter(({ id }) => id >= 0).length;
    return state;
  }

  #transitionsOf(pattern: PatternState): readonly TrendTransition[] {
    const progress = { state: pattern, captures: this.#captures, base: 0 };
    return pattern.enabledSteps.map((enabled) => ({
      slot: enabled.step.slot,
      target: this.#visit(this.space.take(progress, enabled, NO_ROW, 1).state, false),
    }));
  }

  #violated(pattern: PatternState, slots: readonly number[]): TrendState | null {
    const progress = this.space.violate({ state: pattern, captures: this.#captures, base: 0 }, slots);
    return progress && this.#visit(progress.state, true);
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** All but the empty one, each in order. */
export function subsetsOf(slots: readonly number[]): readonly (readonly number[])[] {
  const all: (readonly number[])[] = [];
  for (const slot of slots) all.push([slot], ...all.map((one) => [...one, slot]));
  return all;
}
