import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { greater, less } from '../../../../shared/language/functions/arithmetic.ts';
import type { PatternPlan, TrendAggregatePlan } from '../../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../../operators/row.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import { plus } from '../../time/instants.ts';
import { bindingsOf, Capture, type Captures, capturesInOrder } from '../captures.ts';
import { noteListReads, noteReads } from '../expression-reads.ts';
import { buildPatternTree } from '../pattern-tree.ts';
import { type Absence, type EnabledStep, isInGap } from '../residual.ts';
import { type Progress, StateSpace } from '../state-space.ts';
import { buildWatches, type Relevance, type Watch } from '../watch.ts';
import { type EventValues, summand, TrendTotals } from './trend-totals.ts';

/** Trends, finished or not, that nothing to come can tell apart: in one state, with equal events where conditions look. */
export interface TrendGroup {
  readonly progress: Progress;
  readonly firstTime: number;
  readonly totals: TrendTotals;
}

/** The groups of one partition and window, by what tells them apart, and what has been completed. */
export interface TrendSet {
  readonly groups: ReadonlyMap<string, TrendGroup>;
  readonly completed: TrendTotals;
}

/** What an event makes of a set of trends. */
export interface TrendStep extends TrendSet {
  /** Slots by which some trend takes the event. */
  readonly taken: ReadonlySet<number>;
}

/**
 * Counts trends without enumerating them: dynamic programming over the states of the pattern's automaton under
 * skip-till-any-match. Every event extends whole groups of trends at once. Without edge predicates a group is a state, so
 * a window of n events costs O(n); each step whose last event a condition reads multiplies the groups by its events.
 *
 * @see "GRETA: Graph-based Real-time Event Trend Aggregation" (VLDB 2017).
 */
export class TrendCounter {
  readonly #plan: PatternPlan;
  readonly #calls: TrendAggregatePlan['calls'];
  readonly #arguments: readonly (Evaluate | null)[];
  readonly #space: StateSpace;
  readonly #watches: readonly Watch[];
  readonly #monotoneValue: Evaluate | null;
  /** By slot: whether conditions read its last event, and more than that. */
  readonly #reads: readonly boolean[];
  readonly #readsList: readonly boolean[];
  /** The bound on a trend's length, where windows are longer than it. */
  readonly #withinMs: number;

  constructor(pattern: PatternPlan, { calls, windowMs }: TrendAggregatePlan, environment: OperatorEnvironment) {
    this.#plan = { ...pattern, selection: 'any', emission: 'longest' };
    this.#calls = calls;
    this.#arguments = calls.map(({ argument }) => argument && environment.evaluator(argument));
    this.#space = new StateSpace(this.#plan, buildPatternTree(this.#plan), null);
    this.#watches = buildWatches(this.#plan, environment);
    this.#monotoneValue = pattern.monotone && environment.evaluator(pattern.monotone.value);
    const conditions = pattern.steps.map((step) => step.where);
    this.#readsList = slotsRead(pattern, (note) => conditions.forEach((where) => void noteListReads(where, note)));
    this.#reads = slotsRead(pattern, (note) => {
      for (const where of conditions) noteReads(where, note);
      if (pattern.monotone !== null) note(pattern.monotone.slot);
    });
    this.#withinMs = pattern.withinMs !== null && pattern.withinMs < windowMs ? pattern.withinMs : Infinity;
  }

  get nothing(): TrendSet {
    return { groups: new Map(), completed: TrendTotals.none(this.#calls.length) };
  }

  /** What an event makes of the trends. Changes nothing. @throws EvaluationError when a condition or an argument fails. */
  step(set: TrendSet, row: Row, at: number, relevance: Relevance): TrendStep {
    const groups = new Map<string, TrendGroup>();
    const step: Stepping = { row, at, relevance, groups, completed: set.completed, taken: new Set(), values: new Map() };
    const kept: TrendGroup[] = [];
    for (const group of this.pass(set, row.time, step).groups.values()) {
      const left = this.#afterViolations(group, row, relevance);
      if (left !== null && !this.#isOutlived(left, row.time)) kept.push(left);
    }
    for (const group of kept) this.#add(groups, group);
    for (const group of kept) this.#extend(group, step);
    this.#open(step);
    return step;
  }

  /** After `NOT`s whose deadline lies before `time` have matched. */
  pass(set: TrendSet, time: number, into: { completed: TrendTotals } = { completed: set.completed }): TrendSet {
    const groups = new Map<string, TrendGroup>();
    for (const group of set.groups.values()) {
      const passed = this.#passed(group, time);
      if (passed !== group && passed.progress.state.isComplete) into.completed = into.completed.union(passed.totals);
      if (passed === group || !isFinal(passed)) this.#add(groups, passed);
    }
    return { groups, completed: into.completed };
  }

  #passed(group: TrendGroup, time: number): TrendGroup {
    const { absences } = group.progress.state;
    if (!absences.some((absence) => this.#deadlineOf(absence, group) < time)) return group;
    const progress = this.#space.pass(group.progress, { time, isPatternOver: this.#lastTimeOf(group) < time });
    return progress === group.progress ? group : { ...group, progress };
  }

  #afterViolations(group: TrendGroup, row: Row, relevance: Relevance): TrendGroup | null {
    const { progress } = group;
    const violated = progress.state.absences
      .filter((absence) => relevance.isWatched[absence.slot] && row.time <= this.#deadlineOf(absence, group))
      .filter(({ slot }) => this.#accepts(slot, row, progress.captures))
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
    return plus(firstTime, this.#plan.withinMs ?? Infinity);
  }

  /** First event time that it allows: a displaced event may lie as far back. */
  #firstTimeOf({ firstTime }: TrendGroup): number {
    return plus(firstTime, -(this.#plan.withinMs ?? Infinity));
  }

  /** No event can come in time any more, and one is needed; what only waits for a `NOT` is not bounded. */
  #isOutlived(group: TrendGroup, time: number): boolean {
    const { isComplete, needsEvent } = group.progress.state;
    return this.#lastTimeOf(group) < time && (isComplete || needsEvent);
  }

  #extend(group: TrendGroup, step: Stepping): void {
    if (this.#lastTimeOf(group) < step.row.time || this.#firstTimeOf(group) > step.row.time) return;
    const { state, base, captures } = group.progress;
    for (const enabled of state.enabledSteps) {
      const { slot } = enabled.step;
      if (!step.relevance.isWatched[slot] || !isInGap(step.row.time, enabled, base)) continue;
      if (!this.#accepts(slot, step.row, captures) || !this.#isMonotone(slot, step.row, captures)) continue;
      this.#take(group, enabled, step);
    }
  }

  #open(step: Stepping): void {
    const captures = this.#plan.steps.map(() => null);
    const progress: Progress = { state: this.#space.initial, captures, base: 0 };
    this.#extend({ progress, firstTime: step.row.time, totals: TrendTotals.one(this.#calls.length) }, step);
  }

  #take({ progress, firstTime, totals }: TrendGroup, enabled: EnabledStep, step: Stepping): void {
    const { slot } = enabled.step;
    const next = this.#space.take(progress, enabled, step.row, step.at);
    const taken: TrendGroup = {
      progress: { ...next, captures: this.#relevant(next.captures) },
      firstTime,
      totals: totals.with(this.#valuesOf(slot, step)),
    };
    step.taken.add(slot);
    if (next.state.isComplete) step.completed = step.completed.union(taken.totals);
    if (!isFinal(taken)) this.#add(step.groups, taken);
  }

  #add(groups: Map<string, TrendGroup>, group: TrendGroup): void {
    const key = this.#keyOf(group);
    const same = groups.get(key);
    groups.set(key, same === undefined ? group : { ...same, totals: same.totals.union(group.totals) });
  }

  /** What tells groups apart: the state, the times that still matter, and the events that conditions may look at. */
  #keyOf({ progress: { state, base, captures }, firstTime }: TrendGroup): string {
    const usesFirst = this.#withinMs < Infinity || this.#space.usesPatternDeadline;
    const times = `${this.#space.usesBase ? base : ''};${usesFirst ? firstTime : ''}`;
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
    return captures.map((capture, slot) => {
      if (capture === null || this.#readsList[slot]) return capture;
      return this.#reads[slot] ? new Capture(capture.row, capture.at, -1, null) : null;
    });
  }

  #accepts(slot: number, row: Row, captures: Captures): boolean {
    return (this.#watches[slot] as Watch).accepts(row, bindingsOf(captures, this.#readsList));
  }

  /** `.increasing(f)` is a condition on neighbours here; a break ends no trend, as another event may be taken instead. */
  #isMonotone(slot: number, row: Row, captures: Captures): boolean {
    const { monotone } = this.#plan;
    if (monotone === null || this.#monotoneValue === null || slot !== monotone.slot) return true;
    const value = this.#monotoneValue(scopeOf(row));
    const previous = captures[slot] ?? null;
    if (previous === null) return value !== null;
    const isNext = monotone.direction === 'increasing' ? greater : less;
    return isNext(value, this.#monotoneValue(scopeOf(previous.row))) === true;
  }

  #valuesOf(slot: number, { row, values }: Stepping): EventValues {
    let known = values.get(slot);
    if (known === undefined) {
      known = this.#calls.map((call, index) => {
        if (call.slot !== slot) return undefined;
        const argument = this.#arguments[index] ?? null;
        return argument === null ? true : summand(call, argument(scopeOf(row)));
      });
      values.set(slot, known);
    }
    return known;
  }

  save({ groups, completed }: TrendSet): Value {
    const saved = [...groups.values()].map(({ progress: { state, base, captures }, firstTime, totals }) => [
      this.#space.save(state),
      base,
      captures.map((top) => capturesInOrder(top).map(({ row, at }) => [saveRow(row), at])),
      firstTime,
      totals.save(),
    ]);
    return [saved, completed.save()];
  }

  load(saved: Value): TrendSet {
    const [groups, completed] = saved as ValueArray;
    const loaded = new Map<string, TrendGroup>();
    for (const one of groups as ValueArray) {
      const [state, base, captures, firstTime, totals] = one as ValueArray;
      const progress = {
        state: this.#space.load(state as Value),
        base: base as number,
        captures: (captures as ValueArray).map(loadCaptures),
      };
      this.#add(loaded, { progress, firstTime: firstTime as number, totals: TrendTotals.load(totals as Value) });
    }
    return { groups: loaded, completed: TrendTotals.load(completed as Value) };
  }
}

/** A step being made. */
interface Stepping {
  readonly row: Row;
  readonly at: number;
  readonly relevance: Relevance;
  readonly groups: Map<string, TrendGroup>;
  completed: TrendTotals;
  readonly taken: Set<number>;
  /** By slot, the values of the calls for this event. */
  readonly values: Map<number, EventValues>;
}

function isFinal({ progress: { state } }: TrendGroup): boolean {
  return state.isComplete && state.enabledSteps.length === 0;
}

function slotsRead(pattern: PatternPlan, read: (note: (slot: number) => void) => void): readonly boolean[] {
  const reads: boolean[] = pattern.steps.map(() => false);
  read((slot) => {
    reads[slot] = true;
  });
  return reads;
}

function loadCaptures(saved: Value): Capture | null {
  let top: Capture | null = null;
  for (const one of saved as ValueArray) {
    const [row, at] = one as ValueArray;
    top = new Capture(loadRow(row as Value), at as number, -1, top);
  }
  return top;
}
