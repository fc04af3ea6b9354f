import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import type { AggregatePlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import type { WindowView } from '../../trace/views.ts';
import { Aggregation, unlessFailing } from '../../windows/aggregation.ts';
import { savedRing, savedRings, TimeRing, timedSample } from '../../windows/time-ring.ts';
import type { WindowStore } from './call-forms.ts';
import { TimeGrid, type TimeWindowPlan } from './time-grid.ts';
import { type Given, WholeRows } from './whole-rows.ts';
import { WindowKernel } from './window-kernel.ts';

/** A key, by its slot and what that holds, and the first of its windows that is open and not empty. */
interface Closing {
  readonly slot: number;
  readonly ring: TimeRing;
  readonly start: number;
}

/**
 * Windows of time that overlap, as `SlidingKernel` has them, where rows come whole. The events of a key are held once, whatever number of
 * windows they belong to. Every key has its own first open window, so windows may be aligned to its first event, and it may expire.
 */
export class RingKernel extends WindowKernel<TimeRing> {
  readonly stateForm = 'ring';
  readonly #aggregation: Aggregation;
  readonly #grid: TimeGrid;
  readonly #keepsOrigins: boolean;
  readonly #isByTime: boolean;
  readonly #closings = new DeadlineQueue<Closing>();

  constructor(aggregate: AggregatePlan, plan: TimeWindowPlan, next: Next, environment: OperatorEnvironment) {
    const aggregation = new Aggregation(aggregate, environment);
    const contents = {
      sample: (row: Row, order: number) => aggregation.sample(row, order),
      save: (ring: TimeRing) => ring.save(),
    };
    super(new WholeRows(environment, contents, { cold: ['origin'] }), next, environment);
    const { allowedLatenessMs, outOfOrderMs } = environment.stream.time;
    this.#aggregation = aggregation;
    this.#grid = new TimeGrid(plan, allowedLatenessMs);
    this.#keepsOrigins = plan.align === 'first';
    this.#isByTime = outOfOrderMs > 0;
  }

  override begin(...keys: Value[]): number {
    const slot = super.begin(...keys);
    this.put(slot, 'origin', Number.NaN);
    return slot;
  }

  /** Where windows are aligned to a key's first event, that is to be remembered. */
  protected override get mayForget(): boolean {
    return super.mayForget && !this.#keepsOrigins;
  }

  protected override takeWhole(slot: number, { row, sample }: Given, whole: WholeRows<TimeRing>): void {
    const grid = this.#grid;
    const watermark = this.environment.watermark();
    const origin = grid.originOf(this.at(slot, 'origin'), row.time);
    if (this.#keepsOrigins) this.put(slot, 'origin', origin);
    const [first, last] = [grid.firstStart(row.time, origin), grid.lastStart(row.time, origin)];
    let open = first;
    while (open <= last && grid.closesAt(open) <= watermark) open = grid.after(open);
    if (open <= last && sample !== null) {
      const isNew = this.at(slot, 'count') === 0;
      const ring = isNew ? new TimeRing(row, Infinity, this.#aggregation, this.#isByTime) : whole.at(slot);
      const taken = ring.taken(sample, row, open, grid.endOf(last));
      if (isNew) this.#hold(slot, ring, whole);
      whole.beforeChange(slot);
      ring.add(timedSample(taken, row));
      ring.last = row;
      if (open < ring.start) this.#await(slot, ring, open);
    }
    if (open > first) this.late(row);
  }

  #hold(slot: number, ring: TimeRing, whole: WholeRows<TimeRing>): void {
    whole.put(slot, ring);
    this.put(slot, 'count', 1);
    this.empty--;
  }

  #await(slot: number, ring: TimeRing, start: number): void {
    ring.start = start;
    this.#closings.push(this.#grid.closesAt(start), ring.endsBetween(start, this.#grid.endOf(start)).first.order, { slot, ring, start });
    this.due = Math.min(this.due, this.#closings.next());
  }

  advance(watermark: number): void {
    try {
      for (let due = this.#closings.popDue(watermark); due; due = this.#closings.popDue(watermark)) this.#close(due);
      this.expire(watermark);
    } finally {
      this.due = Math.min(this.#closings.next(), this.nextExpiry);
    }
  }

  /** The next window of the key is in line before this one is handed on, which may fail. */
  #close({ slot, ring, start }: Closing): void {
    const { whole } = this;
    if (whole === null || ring.start !== start || this.at(slot, 'count') <= 0 || whole.at(slot) !== ring) return;
    whole.beforeChange(slot);
    const frame = this.#grid.frameOf(start);
    const origin = ring.originBetween(start, frame.end);
    const results = ring.results(frame.end, frame.lengthMs);
    this.#moveOn(slot, ring, this.#grid.after(start));
    if (this.isGone(slot, this.#grid.closesAt(start))) return;
    this.next.process(this.#aggregation.windowRow(origin, results, frame));
    this.next.endWindow(frame);
  }

  #moveOn(slot: number, ring: TimeRing, start: number): void {
    ring.dropBefore(start);
    const oldest = ring.oldestTime;
    if (oldest === undefined) this.closed(slot);
    else this.#await(slot, ring, Math.max(start, this.#grid.firstStart(oldest, this.#grid.originOf(this.at(slot, 'origin'), oldest))));
  }

  protected override drop(slot: number): void {
    super.drop(slot);
    this.put(slot, 'origin', Number.NaN);
  }

  openWindows(): readonly WindowView[] {
    return this.open().flatMap((slot) => (this.whole === null ? [] : this.#viewsOf(this.whole.at(slot))));
  }

  #viewsOf(ring: TimeRing): readonly WindowView[] {
    const views: WindowView[] = [];
    for (let { start } = ring; start <= ring.newestTime; start = this.#grid.after(start)) {
      const frame = this.#grid.frameOf(start);
      const { length: count } = ring.between(start, frame.end);
      if (count === 0) continue;
      const soFar = unlessFailing(() => {
        const results = ring.resultsBetween(start, frame.end, frame.lengthMs);
        return this.#aggregation.windowRow(ring.originBetween(start, frame.end), results, frame).fields;
      });
      views.push({ last: ring.last, count, start, end: frame.end, closesAt: this.#grid.closesAt(start), missing: null, soFar });
    }
    return views;
  }

  protected saveFrom(store: WindowStore): Value {
    const saved = store.contents as ReadonlyMap<number, Value>;
    const rings = this.open(store).map((slot) => [this.keyText(slot, store), ...(saved.get(slot) as ValueArray)]);
    const origins = this.#keepsOrigins ? this.saveByKey('origin', Number.NaN, store) : new Map<string, number>();
    return savedRings.save({ arrivals: store.arrivals, rings, origins, touched: this.saveTouched(store) });
  }

  load(saved: Value): void {
    const { arrivals, rings, origins, touched } = savedRings.load(saved);
    this.counted = arrivals;
    this.loadByKey('origin', origins);
    for (const one of rings.map(savedRing.load)) {
      const slot = this.slotOf([one.key]);
      const ring = TimeRing.load(one, this.#aggregation, this.#isByTime);
      this.#hold(slot, ring, this.whole as WholeRows<TimeRing>);
      this.#await(slot, ring, ring.start);
    }
    this.loadTouched(touched);
  }
}
