import type { Value } from '../../../shared/events/value.ts';
import { plus } from '../time/instants.ts';
import type { Captures, Mark } from './captures.ts';
import type { AbsenceNode, StepNode, TreeNode } from './pattern-tree.ts';

/**
 * What is left of a node of the pattern after the events that a run has taken, as in matching by derivatives (Brzozowski,
 * "Derivatives of Regular Expressions", 1964): an event that is taken turns a residual into the next one. Residuals are
 * immutable, know nothing of the events themselves (a run's `Captures` hold those) and nest as the pattern does.
 *
 * Times are event times in ms, or where nothing but the last event's time matters, distances from it (`StateSpace`).
 * `Infinity` as the time of the step before means that there is none.
 */
export interface Residual {
  /** Nothing more need come. What has only begun and may be left out does not stand in the way. */
  readonly isComplete: boolean;
  /** Has begun with what stays whatever comes: none of its ways begins anew. */
  readonly isSettled: boolean;
  /** Time of the step that a following step measures its gap from. */
  readonly endTime: number;
  outlook(context: RunContext): Outlook;
  /** The `NOT`s in force. */
  absences(): readonly Absence[];
  /** After an event of the violated `NOT`s; null when the run is over. */
  violate(isViolated: (slot: number) => boolean): Change | null;
  /** From now on it keeps what it has begun, and begins in no other way; null when it has begun nothing. */
  settle(): Change | null;
  /** After the `NOT`s have matched whose time is over; itself when there are none. */
  pass(passing: Passing): Change;
  /** What the run loses when it goes on without what has only begun. */
  unfinished(): readonly Mark[];
  /** JSON-safe, without the node: `loadResidual` brings it back. */
  save(): Value;
}

/** What may come next and until when. Found out in one go: each of these follows from all of these of the residuals within. */
export interface Outlook {
  /** The steps that could take the next event, in the order in which they are asked. */
  readonly enabledSteps: readonly EnabledStep[];
  /** The time after which it cannot be completed any more, unless an event is taken; Infinity when it needs none. */
  readonly dueTime: number;
  /** Time alone does not complete it. */
  readonly needsEvent: boolean;
}

/** What besides itself decides about a residual. */
export interface RunContext {
  /** A branch or round that has begun must be finished: when a run opens, under `.strict()` and under `.stam()`. */
  readonly isBinding: boolean;
  /** The run is complete as it is: only closures may take more. */
  readonly isClosuresOnly: boolean;
  /** First and last event time that a group around allows. The bounds of the whole pattern are the run's to look after. */
  readonly earliestTime: number;
  readonly latestTime: number;
}

/** A step that would take an event, should it fit. */
export interface EnabledStep {
  readonly step: StepNode;
  /** The first and the last event time that fit, inclusive: a displaced event may lie as far before as any may lie behind. */
  readonly earliestTime: number;
  readonly latestTime: number;
  /** Prolongs a closure that has enough already, so steps behind it are asked first. */
  readonly isRepeat: boolean;
  /** What it prolongs of what has enough already: a `NOT` that has been violated behind a closure is not put off by more of it. */
  readonly prolongs: 'nothing' | 'step' | 'rounds';
  /** Of a pattern not yet begun: leaves out an optional step in front. */
  readonly skipsLeading: boolean;
  /** Whether the event begins an element of the enumerated closure, belongs to its newest, or lies outside. */
  readonly element: 'new' | 'same' | 'none';
  /** What the run loses when this step takes the event: begun but unfinished parts that it leaves behind. */
  readonly discards: readonly Mark[];
  take(taking: Taking): Residual;
}

/** An event being taken. `captures` are those before it, discards taken off; the residuals may take off more. */
export interface Taking {
  readonly time: number;
  captures: Captures;
}

/** What a `NOT` in force forbids: the events of one of its steps. */
export interface Absence {
  readonly node: AbsenceNode;
  readonly slot: number;
  /** An event further back is none of its; -Infinity when it has no `within`. */
  readonly earliestTime: number;
  /** Infinity when it has none of its own. */
  readonly deadline: number;
}

/** A moment at which `NOT`s have matched whose deadline lies before it. */
export interface Passing {
  readonly isOver: (deadline: number) => boolean;
  /** Whether the deadline of the whole pattern lies before it. */
  readonly isPatternOver: boolean;
}

export interface Change {
  readonly residual: Residual;
  readonly discards: readonly Mark[];
}

/** What `NOT`s have made of a part that has begun with no event: a violated one, or one whose time is over. */
export interface Ahead {
  /** Null: it can begin no more. */
  readonly residual: Residual | null;
  /** By an event; what time alone has done is undone by the next step. */
  readonly isViolated: boolean;
}

export const NO_MARKS: readonly Mark[] = [];
export const NO_STEPS: readonly EnabledStep[] = [];
export const NO_OUTLOOK: Outlook = { enabledSteps: NO_STEPS, dueTime: Infinity, needsEvent: false };
export const NO_ABSENCES: readonly Absence[] = [];

/** Whether a step may take an event of this time; `baseTime` is what the times of the step count from. */
export function isInGap(time: number, { earliestTime, latestTime }: EnabledStep, baseTime: number): boolean {
  return time <= plus(baseTime, latestTime) && time >= plus(baseTime, earliestTime);
}

/** How far back an event may lie that must not be further than this from a time; Infinity as the time = there is none yet. */
export function earliestFrom(sinceTime: number, withinMs: number): number {
  return sinceTime === Infinity ? -Infinity : plus(sinceTime, -withinMs);
}

/** Whether an event that a step has just taken stays when the run goes on from here without what has only begun. */
export function isKept(residual: Residual, { step: { slot } }: EnabledStep, { captures }: Taking): boolean {
  const lengthBefore = captures[slot]?.length ?? 0;
  return residual.unfinished().every(({ firstSlot, lengths }) => (lengths[slot - firstSlot] ?? Infinity) > lengthBefore);
}

/** Whether a part that is complete may take something else than more of a closure. */
export function mayTakeMore(residual: Residual): boolean {
  return residual.outlook(ANY_TIME).enabledSteps.some(({ prolongs }) => prolongs === 'nothing');
}

const ANY_TIME: RunContext = { isBinding: true, isClosuresOnly: false, earliestTime: -Infinity, latestTime: Infinity };

export function unchanged(residual: Residual): Change {
  return { residual, discards: NO_MARKS };
}

/** The last time at which one of the steps can be taken. */
export function latestOf(enabledSteps: readonly EnabledStep[]): number {
  let latest = -Infinity;
  for (const enabled of enabledSteps) if (enabled.latestTime > latest) latest = enabled.latestTime;
  return latest;
}

/** What is asked first: steps in the order written, then closures that are open already. */
export function inOrderOfChoice(enabledSteps: readonly EnabledStep[]): readonly EnabledStep[] {
  if (!enabledSteps.some((enabled) => enabled.isRepeat)) return enabledSteps;
  return [...enabledSteps.filter((enabled) => !enabled.isRepeat), ...enabledSteps.filter((enabled) => enabled.isRepeat)];
}

/** Makes residuals: a node not yet begun, and one from saved data. Passed down, as residuals nest in each other. */
export interface ResidualFactory {
  begin(node: TreeNode, since: number): Residual;
  load(node: TreeNode, saved: Value): Residual;
  /** The closure whose elements `.each()` and `.subsets()` enumerate. */
  readonly enumerated: TreeNode | null;
}
