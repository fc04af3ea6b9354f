import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import { NO_ROW } from '../../operators/row.ts';
import { Completion } from '../../patterns/completion.ts';
import { type AbsenceNode, buildPatternTree, isTimed, listSlots, type TreeNode } from '../../patterns/pattern-tree.ts';
import type { EnabledStep } from '../../patterns/residual.ts';
import { type PatternState, StateSpace } from '../../patterns/state-space.ts';
import { justAfter } from '../../time/instants.ts';

/** A step that can take the next event of a run. */
export interface Transition {
  readonly slot: number;
  readonly target: AutomatonState;
  /** Leaves out an optional step in front of the pattern: opens no run with an event that another run has taken. */
  readonly skipsLeading: boolean;
  /** The run has a match with it, at once. */
  readonly emits: boolean;
  /** Least (a displaced event may lie before it) and longest time since the last event, inclusive; infinite = any. */
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** A `NOT` in force. Times are distances from the run's last event, and the last one is that of `gap` alone. */
export interface AbsenceInForce extends Pick<AbsenceNode, 'slots' | 'until'> {
  /** The earliest time of an event that it forbids: a displaced one may lie before the last event. */
  readonly earliestMs: number;
  /** When it has matched. */
  readonly deadlineMs: number;
}

/** Where a run can stand. */
export interface AutomatonState {
  /** Position among the states: those that a run comes to later have the higher ones. */
  readonly id: number;
  readonly pattern: PatternState;
  /** In the order in which they are asked. */
  readonly transitions: readonly Transition[];
  /** The match is complete and can take nothing more. */
  readonly isOver: boolean;
  /** By slot: whether the step has taken an event by then; null = it depends on the way. */
  readonly captured: readonly (boolean | null)[];
  /** A `NOT` in force: its event ends the run. */
  readonly absence: AbsenceInForce | null;
  /** What a run has come to when the time of the `NOT` is over without its event; null where it has none. */
  readonly passed: AutomatonState | null;
}

/** More of them would print more text than the pattern is worth. */
const MOST_STATES = 40;

/** All states that runs of a pattern can be in, for a pattern in which no time matters but those of the first and the last event. */
export class Automaton {
  readonly initial: AutomatonState;
  /** By id; without the initial one. */
  readonly states: readonly AutomatonState[];
  /** By slot: whether a match can hold several events there. */
  readonly isList: readonly boolean[];
  readonly space: StateSpace;
  readonly completion: Completion;
  /** A closure ends the pattern, which has its match when the run ends. */
  readonly waits: boolean;
  /** Such a match may also come when an event ends the run. */
  readonly waitsForEvents: boolean;
  /** Time alone decides something before the pattern's time is over. */
  readonly isTimed: boolean;
  readonly #ids: ReadonlyMap<PatternState, number>;

  private constructor(completion: Completion, { plan, root, space, reached }: Explored) {
    this.isList = listSlots(root, plan.steps.length);
    this.space = space;
    this.completion = completion;
    this.#ids = new Map(reached.map(({ pattern }, at) => [pattern, at - 1]));
    this.waits = completion.waitsForTheEnd;
    this.waitsForEvents = this.waits && (plan.selection === 'strict' || plan.monotone !== null);
    const states = statesOf(reached, this.#ids, plan.steps.length, this.waits);
    [this.initial, ...this.states] = states as [AutomatonState, ...AutomatonState[]];
    const isWoken = ({ absence, pattern: { isComplete, needsEvent } }: AutomatonState): boolean =>
      (absence !== null && absence.until !== 'next_step') || !(isComplete || needsEvent);
    this.isTimed = isTimed(root) || this.states.some(isWoken);
  }

  /** Why there is none: a text. */
  static of(plan: PatternPlan): Automaton | string {
    const root = buildPatternTree(plan);
    if (!hasOnlySteps(root)) return 'it has `AND`, `OR` or a group';
    const completion = new Completion(plan, root, () => undefined);
    const space = new StateSpace(plan, root, completion.enumerated);
    const reached = explore(space, plan.steps.length);
    return typeof reached === 'string' ? reached : new Automaton(completion, { plan, root, space, reached });
  }

  /** The state that stands for this one in generated code; undefined = none does. */
  idOf(state: PatternState): number | undefined {
    return this.#ids.get(state);
  }
}

function absenceOf({ absences: [first] }: PatternState): AbsenceInForce | null {
  if (first === undefined) return null;
  const { node, earliestTime, deadline } = first;
  return { slots: node.slots, until: node.until, earliestMs: earliestTime, deadlineMs: deadline };
}

/** What a run in this state has come to when the time of its `NOT` is over, and that of the `NOT`s behind it. */
export function statesByTime(state: AutomatonState): readonly AutomatonState[] {
  const { absence, passed } = state;
  return absence?.until === 'gap' && passed !== null ? [passed, ...statesByTime(passed)] : [];
}

interface Explored {
  readonly plan: PatternPlan;
  readonly root: TreeNode;
  readonly space: StateSpace;
  readonly reached: readonly Reached[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Reached {
  readonly pattern: PatternState;
  readonly successors: readonly { readonly enabled: EnabledStep; readonly target: PatternState }[];
  /** The state after its `NOT` timed out; null when it has none that ends by time. */
  readonly passed: PatternState | null;
}

function hasOnlySteps(node: TreeNode): boolean {
  return node.kind === 'step' || (node.kind === 'sequence' && node.items.every(({ kind }) => kind === 'step' || kind === 'absence'));
}

function statesOf(
  reached: readonly Reached[],
  ids: ReadonlyMap<PatternState, number>,
  slots: number,
  waits: boolean,
): readonly AutomatonState[] {
  const captured = capturesOf(reached, slots);
  const states: Mutable<AutomatonState>[] = reached.map(({ pattern }, at) => ({
    id: at - 1,
    pattern,
    transitions: [],
    isOver: pattern.isComplete && pattern.enabledSteps.length === 0,
    captured: captured[at] as readonly (boolean | null)[],
    absence: absenceOf(pattern),
    passed: null,
  }));
  const stateOf = (pattern: PatternState): AutomatonState => states[(ids.get(pattern) as number) + 1] as AutomatonState;
  reached.forEach(({ successors, passed }, at) => {
    const state = states[at] as Mutable<AutomatonState>;
    state.passed = passed && stateOf(passed);
    state.transitions = successors.map(({ enabled, target }) => ({
      slot: enabled.step.slot,
      target: stateOf(target),
      earliestMs: enabled.earliestTime,
      latestMs: enabled.latestTime,
      skipsLeading: enabled.skipsLeading,
      emits: target.isComplete && (!waits || target.enabledSteps.length === 0),
    }));
  });
  return states;
}

/** By state and slot: whether the step has taken an event on every way there (true), on none (false), or on some. */
function capturesOf(reached: readonly Reached[], slots: number): readonly (readonly (boolean | null)[])[] {
  const known = new Map<PatternState, (boolean | null)[]>([[(reached[0] as Reached).pattern, new Array(slots).fill(false)]]);
  const note = (target: PatternState, captured: readonly (boolean | null)[]): void => {
    const others = known.get(target);
    known.set(
      target,
      captured.map((is, slot) => (others === undefined || is === others[slot] ? is : null)),
    );
  };
  for (const { pattern, successors, passed } of reached) {
    const before = known.get(pattern) as readonly (boolean | null)[];
    if (passed !== null) note(passed, before);
    for (const { enabled, target } of successors) {
      note(
        target,
        before.map((is, slot) => (slot === enabled.step.slot ? true : is)),
      );
    }
  }
  return reached.map(({ pattern }) => known.get(pattern) as (boolean | null)[]);
}

/** The states, each behind all those that lead to it: only a closure leads to itself. A text: why they make no automaton. */
function explore(space: StateSpace, slots: number): readonly Reached[] | string {
  const captures = new Array<null>(slots).fill(null);
  const found = new Set<PatternState>();
  const behindFirst: Reached[] = [];
  const visit = (pattern: PatternState): string | null => {
    found.add(pattern);
    if (found.size > MOST_STATES) return 'it has too many states';
    const progress = { state: pattern, captures, base: 0 };
    const successors = pattern.enabledSteps.map((enabled) => ({ enabled, target: space.take(progress, enabled, NO_ROW, 1).state }));
    const why = whyNotPassed(pattern, space, captures);
    if (why !== null) return why;
    const passed = passedFrom(pattern, space, captures);
    for (const target of [...successors.map((one) => one.target), ...(passed === null ? [] : [passed])]) {
      const whyNot = found.has(target) ? null : visit(target);
      if (whyNot !== null) return whyNot;
    }
    behindFirst.push({ pattern, successors, passed });
    return null;
  };
  return visit(space.initial) ?? behindFirst.reverse();
}

/** Why a `NOT` in force is none for an automaton; null = it is, or there is none. */
function whyNotPassed(pattern: PatternState, space: StateSpace, captures: readonly null[]): string | null {
  const [absence] = pattern.absences;
  if (absence === undefined) return null;
  const progress = { state: pattern, captures, base: 0 };
  const { node } = absence;
  const isOnly = pattern.absences.every((other) => other.node === node);
  if (!isOnly || node.slots.some((slot) => space.violate(progress, [slot]) !== null)) return 'a `NOT` does more than end the run';
  const passed = passedFrom(pattern, space, captures);
  return passed?.isComplete && passed.enabledSteps.length > 0 ? 'a match that time has completed may take more' : null;
}

/** What the state becomes when the time of its first `NOT` is over; null where that changes nothing. */
function passedFrom(pattern: PatternState, space: StateSpace, captures: readonly null[]): PatternState | null {
  const [absence] = pattern.absences;
  if (absence === undefined) return null;
  const isPatternOver = absence.node.until === 'pattern';
  const time = isPatternOver ? -Infinity : justAfter(absence.deadline);
  const { state } = space.pass({ state: pattern, captures, base: 0 }, { time, isPatternOver });
  return state === pattern ? null : state;
}
