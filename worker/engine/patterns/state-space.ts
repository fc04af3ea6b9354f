import type { Value } from '../../../shared/events/value.ts';
import type { PatternPlan } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';
import { plus } from '../time/instants.ts';
import { Capture, type Captures, type Mark, rollBack, withCapture } from './captures.ts';
import { elementsOf } from './enumeration.ts';
import { type AbsenceNode, type ClosureNode, childrenOf, isTimed, type TreeNode } from './pattern-tree.ts';
import { type Absence, type EnabledStep, latestOf, type Residual, type ResidualFactory, type RunContext, type Taking } from './residual.ts';
import { residualFactory } from './residuals/factory.ts';

/** A residual of the whole pattern with what follows from it, found out once. */
export interface PatternState {
  readonly residual: Residual;
  readonly isComplete: boolean;
  readonly enabledSteps: readonly EnabledStep[];
  readonly absences: readonly Absence[];
  /** Slots of the steps and `NOT`s that wait for an event. */
  readonly slots: readonly number[];
  /** Time after which no event can help; Infinity when none is needed. Relative as `Progress.base` says. */
  readonly dueTime: number;
  /** Without any further event it comes to nothing, so the deadline of the pattern ends it. */
  readonly needsEvent: boolean;
  /** What it would lose if it ended here. */
  readonly unfinished: readonly Mark[];
  /** By position of the enabled step. */
  readonly successors: (PatternState | undefined)[];
  /** The same for equal states. */
  readonly key: string;
}

/** A time up to which deadlines are over that lie before it. */
export interface Moment {
  readonly time: number;
  /** Whether the run's last time lies before it. */
  readonly isPatternOver: boolean;
}

/** What a run has come to: replaced as a whole when it takes an event or time passes. */
export interface Progress {
  readonly state: PatternState;
  readonly captures: Captures;
  /** What the times in the state count from. */
  readonly base: number;
}

/**
 * The states that runs of a pattern can be in, made as they are reached. In most patterns no time matters but that of the
 * last event taken; then times in states are distances from it, there are few states, and a step from one to the next is
 * looked up. Where more must be remembered (`AND` around a `within`, a group's `within`, parts that may be left unfinished)
 * states are made anew at every step, with absolute times.
 */
export class StateSpace {
  readonly initial: PatternState;
  readonly #root: TreeNode;
  readonly #factory: ResidualFactory;
  readonly #enumerated: ClosureNode | null;
  readonly #isRelative: boolean;
  readonly #isBinding: boolean;
  /** Where times are relative, states by key: equal ones are one. */
  readonly #states = new Map<string, PatternState>();
  /** Whether the time of the last event, and that of the first, are part of where a run stands. */
  readonly usesBase: boolean;
  readonly usesPatternDeadline: boolean;

  constructor(plan: PatternPlan, root: TreeNode, enumerated: ClosureNode | null) {
    this.#root = root;
    this.#factory = residualFactory(enumerated);
    this.#enumerated = enumerated;
    this.#isBinding = plan.selection !== 'next';
    this.#isRelative = !remembersTimes(root) && (this.#isBinding || !mayLeaveUnfinished(root));
    this.usesBase = this.#isRelative && isTimed(root);
    this.usesPatternDeadline = endsWithPattern(root);
    this.initial = this.#derive(this.#factory.begin(root, Infinity), true);
  }

  /** What a run has come to when this enabled step takes the event; `captures` are those before it, the step's discards taken off. */
  take(
    { state, captures }: { readonly state: PatternState; readonly captures: Captures },
    enabled: EnabledStep,
    row: Row,
    at: number,
  ): Progress {
    const taking: Taking = { time: this.#isRelative ? 0 : row.time, captures };
    const next = this.#next(state, enabled, taking);
    const { slot } = enabled.step;
    const capture = new Capture(row, at, this.#elementOf(enabled, taking.captures), taking.captures[slot] ?? null);
    return { state: next, captures: withCapture(taking.captures, slot, capture), base: this.#isRelative ? row.time : 0 };
  }

  #next(state: PatternState, enabled: EnabledStep, taking: Taking): PatternState {
    if (!this.#isRelative) return this.#state(enabled.take(taking));
    const position = state.enabledSteps.indexOf(enabled);
    let next = state.successors[position];
    if (next === undefined) {
      next = this.#state(enabled.take(taking));
      state.successors[position] = next;
    }
    return next;
  }

  #elementOf({ element }: EnabledStep, captures: Captures): number {
    if (this.#enumerated === null || element === 'none') return -1;
    const elements = elementsOf(captures, this.#enumerated);
    return element === 'new' ? elements : elements - 1;
  }

  /** After `NOT`s have matched; itself when none has. */
  pass(progress: Progress, { time, isPatternOver }: Moment): Progress {
    const isOver = (deadline: number): boolean => plus(progress.base, deadline) < time;
    const change = progress.state.residual.pass({ isOver, isPatternOver });
    if (change.residual === progress.state.residual) return progress;
    return { ...progress, state: this.#state(change.residual), captures: rollBack(progress.captures, change.discards) };
  }

  /** After an event that the `NOT`s in `slots` forbid; null when the run is over. */
  violate(progress: Progress, slots: readonly number[]): Progress | null {
    const change = progress.state.residual.violate((slot) => slots.includes(slot));
    if (change === null || change.residual === progress.state.residual) return change && progress;
    return { ...progress, state: this.#state(change.residual), captures: rollBack(progress.captures, change.discards) };
  }

  #state(residual: Residual): PatternState {
    if (!this.#isRelative) return this.#derive(residual, false);
    const key = keyOf(residual);
    let state = this.#states.get(key);
    if (state === undefined) {
      state = this.#derive(residual, false);
      this.#states.set(key, state);
    }
    return state;
  }

  #derive(residual: Residual, isInitial: boolean): PatternState {
    let key: string | null = isInitial ? '' : null;
    const isComplete = !isInitial && residual.isComplete;
    const context: RunContext = {
      isBinding: isInitial || this.#isBinding,
      isClosuresOnly: isComplete,
      earliestTime: -Infinity,
      latestTime: Infinity,
    };
    const { enabledSteps, dueTime, needsEvent } = residual.outlook(context);
    const absences = residual.absences();
    return {
      residual,
      isComplete,
      enabledSteps,
      absences,
      slots: [...new Set([...enabledSteps.map((enabled) => enabled.step.slot), ...absences.map(({ slot }) => slot)])],
      dueTime: isComplete ? latestOf(enabledSteps) : dueTime,
      needsEvent,
      unfinished: residual.unfinished(),
      successors: [],
      get key() {
        key ??= keyOf(residual);
        return key;
      },
    };
  }

  save({ residual }: PatternState): Value {
    return residual.save();
  }

  load(saved: Value): PatternState {
    return this.#state(this.#factory.load(this.#root, saved));
  }
}

/** Equal for residuals that are equal. */
function keyOf(residual: Residual): string {
  return JSON.stringify(residual.save(), (_, value) => (typeof value === 'number' ? String(value) : value));
}

/** Whether a `NOT` waits for the deadline of the whole pattern. */
function endsWithPattern(node: TreeNode | AbsenceNode): boolean {
  return node.kind === 'absence' ? node.until === 'pattern' : childrenOf(node).some(endsWithPattern);
}

/** Whether a time matters other than that of the last event: of a group's first one, of the step before an `AND`. */
function remembersTimes(node: TreeNode | AbsenceNode): boolean {
  if (node.kind === 'absence' || node.kind === 'step') return false;
  if (node.kind === 'and') return isTimed(node);
  return (node.kind === 'group' && node.withinMs < Infinity) || childrenOf(node).some(remembersTimes);
}

function mayLeaveUnfinished(node: TreeNode | AbsenceNode): boolean {
  if (node.kind === 'absence' || node.kind === 'step') return false;
  return node.kind === 'or' || node.kind === 'group' || childrenOf(node).some(mayLeaveUnfinished);
}
