import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import type { PatternPlan, TrendAggregatePlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { Expiry } from '../../state/expiry.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { plus, wholeSteps } from '../../time/instants.ts';
import { firstCause, lastCause } from '../../windows/window-result.ts';
import { type Relevance, relevanceOf } from '../watch.ts';
import { TrendCounter, type TrendSet } from './trend-groups.ts';
import { TrendResults } from './trend-results.ts';

/** The trends of one partition in one window. */
interface TrendWindow {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** Arrival number of the first event: windows that end together close in this order. */
  readonly rank: number;
  readonly first: Row;
  last: Row;
  set: TrendSet;
  /** By slot, the last event that a trend took there. */
  readonly bound: (Row | null)[];
  isOpen: boolean;
}

/**
 * `.trend_aggregate(..)`: in place of matches one result per partition and window, over all trends of the pattern whose
 * events lie in that window. Windows are tumbling, aligned to the epoch, and close when the watermark reaches their end
 * (+ allowed lateness), in order of end, then of first event. A window in which no event was taken gives nothing.
 *
 * Takes rows and time as `PatternMatcher` does. Memory is bounded by the pattern's `runsMax`: over it the oldest group of
 * trends is dropped and counted.
 */
export class TrendAggregator {
  readonly #pattern: PatternPlan;
  readonly #plan: TrendAggregatePlan;
  readonly #environment: OperatorEnvironment;
  readonly #counter: TrendCounter;
  readonly #results: TrendResults;
  readonly #relevances = new Map<string, Relevance | null>();
  readonly #windows = new Map<string, Map<number, TrendWindow>>();
  readonly #closings = new DeadlineQueue<TrendWindow>();
  readonly #expiry: Expiry;
  #received = 0;
  #groups = 0;

  constructor(pattern: PatternPlan, plan: TrendAggregatePlan, next: Next, environment: OperatorEnvironment) {
    this.#pattern = pattern;
    this.#plan = plan;
    this.#environment = environment;
    this.#counter = new TrendCounter(pattern, plan, environment);
    this.#results = new TrendResults(plan, next, environment);
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  /** Groups of trends that are open. */
  get activeRuns(): number {
    return this.#groups;
  }

  /** A row arrives; `origin` as for `PatternMatcher.receive`. A condition that fails drops the row and is reported. */
  receive(row: Row, origin: string): void {
    const relevance = this.#relevance(origin);
    if (relevance === null) return;
    try {
      this.#take(row, relevance);
    } catch (thrown) {
      if (!(thrown instanceof EvaluationError)) throw thrown;
      this.#environment.fail(thrown, row, null);
    }
  }

  #relevance(origin: string): Relevance | null {
    let relevance = this.#relevances.get(origin);
    if (relevance === undefined) {
      relevance = relevanceOf(this.#pattern, origin);
      this.#relevances.set(origin, relevance);
    }
    return relevance;
  }

  /** Whatever may fail comes first. */
  #take(row: Row, relevance: Relevance): void {
    const key = this.#environment.partition(row);
    const start = plus(wholeSteps(row.time, this.#plan.windowMs) * this.#plan.windowMs, 0);
    if (this.#closesAt(plus(start, this.#plan.windowMs)) <= this.#environment.watermark()) {
      this.#environment.late(row);
      return;
    }
    const window = this.#expiry.isGone(key, row.time) ? undefined : this.#windows.get(key)?.get(start);
    const at = this.#received + 1;
    const { taken, ...set } = this.#counter.step(window?.set ?? this.#counter.nothing, row, at, relevance);
    this.#received = at;
    if (this.#expiry.isGone(key, row.time)) this.#drop(key);
    this.#expiry.touch(key, row.time);
    if (window === undefined && taken.size === 0) return;
    const into = window ?? this.#open(key, start, row);
    this.#update(into, { groups: set.groups, completed: set.completed });
    into.last = row;
    for (const slot of taken) into.bound[slot] = row;
    this.#keepBudget(into);
  }

  #closesAt(end: number): number {
    return plus(end, this.#environment.stream.time.allowedLatenessMs);
  }

  #open(key: string, start: number, row: Row): TrendWindow {
    const window: TrendWindow = {
      key,
      start,
      end: plus(start, this.#plan.windowMs),
      rank: this.#received,
      first: row,
      last: row,
      set: this.#counter.nothing,
      bound: this.#pattern.steps.map(() => null),
      isOpen: true,
    };
    this.#enter(window);
    return window;
  }

  #enter(window: TrendWindow): void {
    const windows = this.#windows.get(window.key);
    if (windows === undefined) this.#windows.set(window.key, new Map([[window.start, window]]));
    else windows.set(window.start, window);
    this.#closings.push(this.#closesAt(window.end), window.rank, window);
    this.#groups += window.set.groups.size;
  }

  #update(window: TrendWindow, set: TrendSet): void {
    this.#groups += set.groups.size - window.set.groups.size;
    window.set = set;
  }

  /** The window at hand gives up its oldest groups; what they would have become is missing in its result. */
  #keepBudget(window: TrendWindow): void {
    const over = Math.min(this.#groups - this.#pattern.runsMax, window.set.groups.size);
    if (over <= 0) return;
    this.#update(window, { ...window.set, groups: new Map([...window.set.groups].slice(over)) });
    this.#environment.runsDropped('max_runs', over);
  }

  deadline(): number {
    return Math.min(this.#closings.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    for (let window = this.#closings.popDue(watermark); window; window = this.#closings.popDue(watermark)) {
      if (window.isOpen) this.#close(window);
    }
    for (const key of this.#expiry.expired(watermark)) this.#drop(key);
  }

  #close(window: TrendWindow): void {
    const { key, start, end } = window;
    this.#forget(window);
    if (this.#expiry.isGone(key, this.#closesAt(end))) return;
    this.#results.give({
      start,
      end,
      type: window.last.type,
      keys: this.#environment.partitionFields(window.last),
      firstCause: firstCause(window.first),
      lastCause: lastCause(window.last),
      bound: window.bound,
      completed: this.#counter.pass(window.set, end).completed,
    });
  }

  #forget(window: TrendWindow): void {
    window.isOpen = false;
    this.#groups -= window.set.groups.size;
    const windows = this.#windows.get(window.key);
    windows?.delete(window.start);
    if (windows?.size === 0) this.#windows.delete(window.key);
  }

  #drop(key: string): void {
    for (const window of [...(this.#windows.get(key)?.values() ?? [])]) this.#forget(window);
  }

  save(): Value {
    const windows = [...this.#windows.values()].flatMap((byStart) => [...byStart.values()]);
    const saved = windows.map(({ key, start, rank, first, last, set, bound }) => [
      key,
      start,
      rank,
      saveRow(first),
      saveRow(last),
      this.#counter.save(set),
      bound.map((row) => row && saveRow(row)),
    ]);
    return [this.#received, this.#expiry.save(), saved];
  }

  load(saved: Value): void {
    const [received, expiry, windows] = saved as ValueArray;
    this.#received = received as number;
    this.#expiry.load(expiry as Value);
    for (const one of windows as ValueArray) {
      const [key, start, rank, first, last, set, bound] = one as ValueArray;
      this.#enter({
        key: key as string,
        start: start as number,
        end: plus(start as number, this.#plan.windowMs),
        rank: rank as number,
        first: loadRow(first as Value),
        last: loadRow(last as Value),
        set: this.#counter.load(set as Value),
        bound: (bound as ValueArray).map((row) => (row === null ? null : loadRow(row))),
        isOpen: true,
      });
    }
  }
}
