import type { Value } from '../../../../shared/events/value.ts';
import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import type { Row } from '../../operators/row.ts';
import { anyValue, list, number, record, type Saved } from '../../state/codec.ts';
import { savedRow } from '../../state/saved-row.ts';
import { plus } from '../../time/instants.ts';
import { Capture, type Captures, capturesInOrder } from '../captures.ts';
import { slotsRead, slotsReadAsLists } from '../expression-reads.ts';
import { buildPatternTree, isTimed } from '../pattern-tree.ts';
import { type Absence, type EnabledStep, isInGap } from '../residual.ts';
import type { Progress, StateSpace } from '../state-space.ts';
import { type EventValues, savedTotals, type TrendColumns, TrendTotals } from './trend-totals.ts';

/** Trends, finished or not, that nothing to come can tell apart: in one state, with equal events where conditions look. */
export interface TrendGroup {
  readonly progress: Progress;
  readonly firstTime: number;
  readonly totals: TrendTotals;
}

/** The trends of one window: its groups, oldest first, and what has been completed. Immutable. */
export interface TrendSet {
  readonly groups: readonly TrendGroup[];
  readonly completed: TrendTotals;
}

/** A set of trends after an event. */
export interface TakenEvent extends TrendSet {
  /** Slots by which some trend takes the event. */
  readonly taken: readonly number[];
}

/** An event, as trends see it. */
export interface TrendEvent {
  readonly time: number;
  readonly row: Row;
  /** Tells it from all other events of the window. */
  readonly at: number;
  /** Whether it fits the step or `NOT` of a slot, behind these events. @throws EvaluationError */
  fits(slot: number, captures: Captures): boolean;
  /** What it brings by the step of a slot. @throws EvaluationError */
  valuesOf(slot: number): EventValues;
}

const savedGroup = record({
  state: anyValue,
  base: number,
  captures: list(list(record({ row: savedRow, at: number }))),
  firstTime: number,
  totals: savedTotals,
});

export const savedTrends = record({ groups: list(savedGroup), completed: savedTotals });

/**
 * Counts trends without enumerating them: dynamic programming over the states of the pattern's automaton under
 * skip-till-any-match. Every event extends whole groups of trends at once. Without edge predicates a group is a state, so
 * a window of n events costs O(n); each step whose last event a condition reads multiplies the groups by its events.
 *
 * @see "GRETA: Graph-based Real-time Event Trend Aggregation" (VLDB 2017).
 */
export class TrendGroups {
  /** A window without events. */
  readonly nothing: TrendSet;
  /** By slot: whether conditions read more than its last event. */
  readonly readsList: readonly boolean[];
  readonly #columns: TrendColumns;
  readonly #space: StateSpace;
  /** What a trend's last time is its first one plus. */
  readonly #withinMs: number;
  /** By slot: whether conditions read its last event. */
  readonly #reads: readonly boolean[];
  /** Whether a trend may end before its window does. */
  readonly #usesFirst: boolean;
  /** Nothing but states tells groups apart. */
  readonly #isByState: boolean;
  readonly #known = new Map<EnabledStep, Progress>();
  readonly #noCaptures: Captures;
  readonly #one: TrendTotals;

  constructor(pattern: PatternPlan, columns: TrendColumns, windowMs: number, space: StateSpace) {
    const conditions = pattern.steps.map((step) => step.where);
    this.#columns = columns;
    this.#space = space;
    this.#withinMs = pattern.withinMs ?? Infinity;
    this.#usesFirst = this.#withinMs < windowMs || space.usesPatternDeadline;
    const [listsRead, read] = [slotsReadAsLists(conditions), slotsRead(conditions)];
    this.readsList = pattern.steps.map((_, slot) => listsRead.has(slot));
    this.#reads = pattern.steps.map((_, slot) => read.has(slot) || slot === pattern.monotone?.slot);
    this.#isByState = !isTimed(buildPatternTree(pattern)) && !this.#usesFirst && !this.#reads.includes(true);
    this.#noCaptures = pattern.steps.map(() => null);
    this.#one = TrendTotals.empty(columns, 1n);
    this.nothing = { groups: [], completed: TrendTotals.empty(columns, 0n) };
  }

  /** What an event makes of the trends. @throws EvaluationError when a condition or an argument fails */
  step(set: TrendSet, event: TrendEvent): TakenEvent {
    const passed = this.pass(set, event.time);
    const kept: TrendGroup[] = [];
    for (const group of passed.groups) {
      const left = this.#afterViolations(group, event);
      if (left !== null && !this.#isOutlived(left, event.time)) kept.push(left);
    }
    const merged = this.#merged(kept);
    const step: Stepping = { event, merged, completed: passed.completed, taken: [] };
    for (const group of kept) this.#extend(group, step);
    const progress = { state: this.#space.initial, captures: this.#noCaptures, base: 0 };
    this.#extend({ progress, firstTime: event.time, totals: this.#one }, step);
    return { groups: merged.groups, completed: step.completed, taken: step.taken };
  }

  /** After `NOT`s whose deadline lies before `time` have matched. */
  pass(set: TrendSet, time: number): TrendSet {
    if (!set.groups.some((group) => this.#isDue(group, time))) return set;
    let { completed } = set;
    const left: TrendGroup[] = [];
    for (const group of set.groups) {
      const passed = this.#isDue(group, time) ? this.#passed(group, time) : group;
      if (passed !== group && passed.progress.state.isComplete) completed = completed.plus(passed.totals, null);
      if (passed === group || !isFinal(passed.progress)) left.push(passed);
    }
    return { groups: this.#merged(left).groups, completed };
  }

  #isDue(group: TrendGroup, time: number): boolean {
    return group.progress.state.absences.some((absence) => this.#deadlineOf(absence, group) < time);
  }

  #passed(group: TrendGroup, time: number): TrendGroup {
    const progress = this.#space.pass(group.progress, { time, isPatternOver: this.#lastTimeOf(group) < time });
    return progress === group.progress ? group : { ...group, progress };
  }

  #afterViolations(group: TrendGroup, event: TrendEvent): TrendGroup | null {
    const { progress } = group;
    if (progress.state.absences.length === 0) return group;
    const violated = progress.state.absences
      .filter((absence) => event.time <= this.#deadlineOf(absence, group) && event.fits(absence.slot, progress.captures))
      .map(({ slot }) => slot);
    if (violated.length === 0) return group;
    const left = this.#space.violate(progress, violated);
    return left && { ...group, progress: left };
  }

  #deadlineOf({ node, deadline }: Absence, group: TrendGroup): number {
    return node.until === 'pattern' ? this.#lastTimeOf(group) : plus(group.progress.base, deadline);
  }

  /** Last event time that the pattern's `within` allows. */
  #lastTimeOf({ firstTime }: TrendGroup): number {
    return plus(firstTime, this.#withinMs);
  }

  /** No event can come in time any more, and one is needed; what only waits for a `NOT` is not bounded. */
  #isOutlived(group: TrendGroup, time: number): boolean {
    const { state, base } = group.progress;
    const { isComplete, needsEvent, dueTime } = state;
    if (!isComplete && !needsEvent) return false;
    return Math.max(group.firstTime, Math.min(this.#lastTimeOf(group), plus(base, dueTime))) < time;
  }

  /** Trends that take the event by one of the steps that may come next. A displaced event may lie as far back as `within` allows. */
  #extend(group: TrendGroup, step: Stepping): void {
    const { event } = step;
    if (this.#withinMs < Infinity && !this.#isWithin(group, event.time)) return;
    const { state, base, captures } = group.progress;
    for (const enabled of state.enabledSteps) {
      if (isInGap(event.time, enabled, base) && event.fits(enabled.step.slot, captures)) this.#take(group, enabled, step);
    }
  }

  #isWithin(group: TrendGroup, time: number): boolean {
    return time <= this.#lastTimeOf(group) && time >= plus(group.firstTime, -this.#withinMs);
  }

  #take({ progress, firstTime, totals }: TrendGroup, enabled: EnabledStep, step: Stepping): void {
    const { slot } = enabled.step;
    const next = this.#next(progress, enabled, step.event);
    const values = step.event.valuesOf(slot);
    if (!step.taken.includes(slot)) step.taken.push(slot);
    if (next.state.isComplete) step.completed = step.completed.plus(totals, values);
    if (!isFinal(next)) step.merged.add(next, firstTime, totals, values);
  }

  /** What takes an event by a step. Where states tell groups apart it is found once for each step. */
  #next(progress: Progress, enabled: EnabledStep, { row, at }: TrendEvent): Progress {
    const known = this.#known.get(enabled);
    if (known !== undefined) return known;
    const { state, base, captures } = this.#space.take(progress, enabled, row, at);
    const next = { state, base, captures: this.#relevant(captures) };
    if (this.#isByState) this.#known.set(enabled, next);
    return next;
  }

  #merged(groups: readonly TrendGroup[]): MergedGroups {
    const merged = new MergedGroups(
      this.nothing.completed,
      this.#isByState ? null : (progress, firstTime) => this.#keyOf(progress, firstTime),
    );
    for (const { progress, firstTime, totals } of groups) merged.add(progress, firstTime, totals, null);
    return merged;
  }

  /** What tells groups apart: the state, the times that still matter, and the events that conditions may look at. */
  #keyOf({ state, base, captures }: Progress, firstTime: number): string {
    const times = `${this.#space.usesBase ? base : ''};${this.#usesFirst ? firstTime : ''}`;
    const events = captures.map((capture) =>
      capture === null
        ? ''
        : capturesInOrder(capture)
            .map(({ at }) => at)
            .join('.'),
    );
    return `${state.key};${times};${events.join(',')}`;
  }

  /** Without the events that no condition looks at. */
  #relevant(captures: Captures): Captures {
    if (this.#isByState) return this.#noCaptures;
    return captures.map((capture, slot) => {
      if (capture === null || this.readsList[slot]) return capture;
      return this.#reads[slot] ? new Capture(capture.row, capture.at, -1, null) : null;
    });
  }

  save({ groups, completed }: TrendSet): Saved<typeof savedTrends> {
    const saved = groups.map(({ progress: { state, base, captures }, firstTime, totals }) => ({
      state: this.#space.save(state) as Value,
      base,
      captures: captures.map(capturesInOrder),
      firstTime,
      totals: totals.save(),
    }));
    return { groups: saved, completed: completed.save() };
  }

  load({ groups, completed }: Saved<typeof savedTrends>): TrendSet {
    const loaded = groups.map(({ state, base, captures, firstTime, totals }) => ({
      progress: { state: this.#space.load(state), base, captures: captures.map(captureOf) },
      firstTime,
      totals: TrendTotals.load(this.#columns, totals),
    }));
    return this.setOf(loaded, TrendTotals.load(this.#columns, completed));
  }

  setOf(groups: readonly TrendGroup[], completed: TrendTotals): TrendSet {
    return { groups: this.#merged(groups).groups, completed };
  }
}

/** Groups of a window that are made anew: what is equal becomes one. */
class MergedGroups {
  readonly groups: TrendGroup[] = [];
  readonly #nothing: TrendTotals;
  readonly #keyOf: ((progress: Progress, firstTime: number) => string) | null;
  readonly #positions = new Map<string, number>();

  /** `keyOf`: what tells groups apart; null = their states, of which there are few. */
  constructor(nothing: TrendTotals, keyOf: ((progress: Progress, firstTime: number) => string) | null) {
    this.#nothing = nothing;
    this.#keyOf = keyOf;
  }

  /** Trends that come to a group, with an event that they take; null = with none. */
  add(progress: Progress, firstTime: number, totals: TrendTotals, values: EventValues | null): void {
    const at = this.#find(progress, firstTime);
    const same = this.groups[at];
    if (same !== undefined)
      this.groups[at] = { progress: same.progress, firstTime: same.firstTime, totals: same.totals.plus(totals, values) };
    else this.groups.push({ progress, firstTime, totals: values === null ? totals : this.#nothing.plus(totals, values) });
  }

  /** Behind all, where there is no such group. */
  #find(progress: Progress, firstTime: number): number {
    const { groups } = this;
    if (this.#keyOf === null) {
      for (let at = 0; at < groups.length; at++) if (groups[at]?.progress.state === progress.state) return at;
      return groups.length;
    }
    const key = this.#keyOf(progress, firstTime);
    const at = this.#positions.get(key);
    if (at === undefined) this.#positions.set(key, groups.length);
    return at ?? groups.length;
  }
}

/** A step being made. */
interface Stepping {
  readonly event: TrendEvent;
  readonly merged: MergedGroups;
  completed: TrendTotals;
  readonly taken: number[];
}

/** Complete, and nothing more may come. */
function isFinal({ state }: Progress): boolean {
  return state.isComplete && state.enabledSteps.length === 0;
}

function captureOf(events: readonly { readonly row: Row; readonly at: number }[]): Capture | null {
  return events.reduce((top: Capture | null, { row, at }) => new Capture(row, at, -1, top), null);
}
