import { EvaluationError } from '../../../shared/events/evaluation-error.ts';
import type { Fields } from '../../../shared/events/event.ts';
import type { Value, ValueArray } from '../../../shared/events/value.ts';
import { aggregates } from '../../../shared/language/functions/index.ts';
import type { AggregateCall, AggregatePlan, WindowOperatorPlan, WindowPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry } from '../state/expiry.ts';
import { Pictures } from '../state/pictures.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { plus, wholeSteps } from '../time/instants.ts';
import type { WindowView } from '../trace/views.ts';
import { Aggregation } from './aggregation.ts';
import { type TimedSample, TimeRing, timedSample } from './time-ring.ts';
import { type PreparedItem, prepareItem, type ResultOrigin, windowResult } from './window-content.ts';

type TimeWindowPlan = Extract<WindowPlan, { kind: 'time' }>;

/** A ring and the first of its windows that is open and not empty. */
interface Closing {
  readonly ring: TimeRing;
  readonly start: number;
}

/**
 * Hopping windows `[start, end)` that overlap, as `TimeWindowKernel` has them, where rows come whole. The events of a key are held once, whatever number
 * of windows they belong to: for each window that closes, those that it has beyond the one before go in, and those that it has no
 * longer come out.
 *
 * Only windows without interim results and row patterns, and with aggregates that take every value (`slidesOverTime`).
 */
export class SlidingTimeWindow implements Operator {
  readonly stateForm = 'ring';
  readonly #plan: TimeWindowPlan;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #aggregation: Aggregation;
  readonly #items: readonly PreparedItem[];
  readonly #latenessMs: number;
  readonly #isByTime: boolean;
  readonly #rings = new Map<string, TimeRing>();
  /** `align: first`: time of each partition's first event. */
  readonly #origins = new Map<string, number>();
  readonly #closings = new DeadlineQueue<Closing>();
  readonly #pictures = new Pictures<TimeRing>((ring) => [ring.key, ring.start, saveRow(ring.last), ring.save()]);
  readonly #expiry: Expiry;
  #arrivals = 0;

  constructor(_plan: WindowOperatorPlan, aggregate: AggregatePlan, window: TimeWindowPlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = window;
    this.#environment = environment;
    this.#next = next;
    this.#aggregation = new Aggregation(aggregate, environment);
    this.#items = aggregate.items.map((item) => prepareItem(item, environment));
    this.#latenessMs = environment.stream.time.allowedLatenessMs;
    this.#isByTime = environment.stream.time.outOfOrderMs > 0;
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  process(row: Row): void {
    const order = this.#arrivals + 1;
    const key = this.#environment.partition(row);
    const sample = this.#aggregation.sample(row, order);
    this.#arrivals = order;
    if (this.#expiry.isGone(key, row.time)) this.#drop(key);
    this.#expiry.touch(key, row.time);
    const watermark = this.#environment.watermark();
    const last = this.#lastStart(key, row.time);
    const first = this.#firstStart(key, row.time);
    let open = first;
    while (open <= last && this.#closesAt(open) <= watermark) open = plus(open, this.#plan.slideMs);
    if (open <= last) this.#take(key, open, row, timedSample(sample, row));
    if (open > first) this.#environment.late(row);
  }

  /** `start`: of the first open window that the event belongs to. */
  #take(key: string, start: number, row: Row, sample: TimedSample): void {
    let ring = this.#rings.get(key);
    if (ring === undefined) {
      ring = this.#ring(key, row, Infinity);
      this.#rings.set(key, ring);
    }
    this.#pictures.beforeChange(ring);
    ring.add(sample);
    ring.last = row;
    if (start < ring.start) this.#await(ring, start);
  }

  #ring(key: string, last: Row, start: number): TimeRing {
    return new TimeRing(key, last, start, this.#pictures.taken, this.#aggregation, this.#isByTime);
  }

  #await(ring: TimeRing, start: number): void {
    ring.start = start;
    this.#closings.push(this.#closesAt(start), ring.endsBetween(start, this.#endOf(start)).first.order, { ring, start });
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(this.#closings.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    for (let due = this.#closings.popDue(watermark); due; due = this.#closings.popDue(watermark)) {
      const { ring, start } = due;
      if (ring.start === start && this.#rings.get(ring.key) === ring) this.#close(ring, start);
    }
    for (const key of this.#expiry.expired(watermark)) this.#drop(key);
  }

  /** The next window of the key is in line before this one is handed on, which may fail. */
  #close(ring: TimeRing, start: number): void {
    this.#pictures.beforeChange(ring);
    const frame = this.#frame(start);
    const origin = this.#originOf(ring, start);
    const results = ring.results(frame.end, frame.lengthMs);
    this.#moveOn(ring, plus(start, this.#plan.slideMs));
    if (this.#expiry.isGone(ring.key, this.#closesAt(start))) return;
    this.#next.process(windowResult(this.#items, origin, results, frame, this.#environment.order()));
    this.#next.endWindow(frame);
  }

  #originOf(ring: TimeRing, start: number): ResultOrigin {
    const { first, last } = ring.endsBetween(start, this.#endOf(start));
    return {
      type: last.type,
      keys: this.#environment.partitionFields(ring.last),
      firstCause: first.cause,
      lastCause: last.lastCause,
    };
  }

  #moveOn(ring: TimeRing, start: number): void {
    ring.dropBefore(start);
    const oldest = ring.oldestTime;
    if (oldest === undefined) this.#rings.delete(ring.key);
    else this.#await(ring, Math.max(start, this.#firstStart(ring.key, oldest)));
  }

  #frame(start: number): WindowFrame {
    const end = this.#endOf(start);
    return { time: plus(end, -1), start, end, isFinal: true, lengthMs: this.#plan.sizeMs };
  }

  /** Start of the last window that holds `time`. */
  #lastStart(key: string, time: number): number {
    const { slideMs, offsetMs, align } = this.#plan;
    let origin = offsetMs;
    if (align === 'first') {
      origin = this.#origins.get(key) ?? time;
      this.#origins.set(key, origin);
    }
    return plus(wholeSteps(plus(time, -origin), slideMs) * slideMs, origin);
  }

  /** Start of the first window that holds `time`. */
  #firstStart(key: string, time: number): number {
    return plus(this.#lastStart(key, plus(time, -this.#plan.sizeMs)), this.#plan.slideMs);
  }

  #endOf(start: number): number {
    return plus(start, this.#plan.sizeMs);
  }

  #closesAt(start: number): number {
    return plus(this.#endOf(start), this.#latenessMs);
  }

  #drop(key: string): void {
    this.#rings.delete(key);
    this.#origins.delete(key);
  }

  openWindows(): readonly WindowView[] {
    return [...this.#rings.values()].flatMap((ring) => this.#viewsOf(ring));
  }

  #viewsOf(ring: TimeRing): readonly WindowView[] {
    const views: WindowView[] = [];
    const newest = ring.newestTime;
    for (let start = ring.start; start <= newest; start = plus(start, this.#plan.slideMs)) {
      const end = this.#endOf(start);
      const { length: count } = ring.between(start, end);
      const soFar = count === 0 ? null : this.#soFar(ring, start);
      if (count > 0) views.push({ last: ring.last, count, start, end, closesAt: this.#closesAt(start), missing: null, soFar });
    }
    return views;
  }

  #soFar(ring: TimeRing, start: number): Fields | null {
    const frame = this.#frame(start);
    try {
      const results = ring.resultsBetween(start, frame.end, frame.lengthMs);
      return windowResult(this.#items, this.#originOf(ring, start), results, frame, this.#environment.order()).fields;
    } catch (thrown) {
      if (thrown instanceof EvaluationError) return null;
      throw thrown;
    }
  }

  save(): Value {
    return this.capture()();
  }

  capture(): () => Value {
    const [arrivals, origins, expiry] = [this.#arrivals, new Map(this.#origins), this.#expiry.save()];
    const rings = this.#pictures.take([...this.#rings.values()]);
    return () => [arrivals, rings(), origins, expiry];
  }

  load(saved: Value): void {
    const [arrivals, rings, origins, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const [key, origin] of origins as ReadonlyMap<string, number>) this.#origins.set(key, origin);
    for (const one of rings as ValueArray) this.#loadRing(one as ValueArray);
    this.#expiry.load(expiry as Value);
  }

  #loadRing([key, start, last, samples]: ValueArray): void {
    const ring = this.#ring(key as string, loadRow(last as Value), start as number);
    ring.load(samples as ValueArray);
    this.#rings.set(ring.key, ring);
    this.#await(ring, ring.start);
  }
}

const SCALARS = new Set(['int', 'float', 'str', 'bool', 'timestamp', 'duration']);
const ORDERED = new Set(['int', 'float', 'str', 'timestamp', 'duration']);
const QUANTITIES = new Set(['int', 'float', 'duration']);
/** Whether `SlidingTimeWindow` does for this window. */
export function slidesOverTime({ aggregate, predicates }: WindowOperatorPlan, { slideMs, sizeMs, earlyMs }: TimeWindowPlan): boolean {
  const takesAll = aggregate?.calls.every(takesAnyOfItsType) ?? false;
  return takesAll && slideMs < sizeMs && earlyMs === null && predicates.length === 0;
}

/** No value of the argument's type is refused, whatever came before. */
function takesAnyOfItsType({ function: name, arguments: [argument] }: AggregateCall): boolean {
  const { takes } = aggregates.get(name) ?? {};
  const kinds = takes === 'anything' ? SCALARS : takes === 'one_kind' ? ORDERED : QUANTITIES;
  return argument === undefined || kinds.has(argument.type.kind);
}
