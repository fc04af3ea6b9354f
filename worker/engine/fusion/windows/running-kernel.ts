import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import type { AggregateOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { type Accumulators, Aggregation } from '../../windows/aggregation.ts';
import type { WindowStore } from './call-forms.ts';
import type { Intake } from './intake.ts';
import { type Given, WholeRows } from './whole-rows.ts';
import { WindowKernel } from './window-kernel.ts';

type RunningRows = WholeRows<Accumulators, Aggregation>;

/**
 * `.aggregate` without a window: one result per event over everything so far of its key. Where a result tells what came before and
 * `out_of_order` is set, rows come whole, and each is held until the watermark reaches it.
 */
export class RunningKernel extends WindowKernel<Accumulators, RunningRows> {
  readonly #plan: AggregateOperatorPlan;
  readonly #isHeld: boolean;
  readonly #held = new DeadlineQueue<{ row: Row; order: number }>();

  constructor(plan: AggregateOperatorPlan, next: Next, environment: OperatorEnvironment, intake: Intake | null = null) {
    super(intake ?? new WholeRows(environment, new Aggregation(plan.aggregate, environment)), next, environment);
    this.#plan = plan;
    this.#isHeld = this.whole?.contents.followsTime === true && environment.stream.time.outOfOrderMs > 0;
  }

  override process(row: Row): void {
    if (!this.#isHeld) super.process(row);
    else if (row.time < this.environment.watermark()) this.late(row);
    else this.#hold(row, ++this.counted);
  }

  #hold(row: Row, order: number): void {
    this.#held.push(row.time, order, { row, order });
    this.#release(this.environment.watermark());
    this.due = Math.min(this.due, this.#held.next());
  }

  #release(watermark: number): void {
    for (let held = this.#held.popDue(watermark); held; held = this.#held.popDue(watermark)) {
      try {
        this.receive(held.row, held.order, this.whole as RunningRows);
      } catch (error) {
        if (!(error instanceof EvaluationError)) throw error;
        this.environment.fail(error, held.row, this.#plan);
      }
    }
  }

  protected override takeWhole(slot: number, { row, sample }: Given, whole: RunningRows): void {
    if (this.at(slot, 'count') === 0) {
      this.put(slot, 'count', 1);
      this.empty--;
      whole.put(slot, whole.contents.accumulators());
    }
    const state = whole.beforeChange(slot);
    if (sample !== null) state.add(sample);
    this.next.process(whole.contents.runningRow(row, state.results(0)));
  }

  protected drop(slot: number): void {
    if (this.at(slot, 'count') === 0) return;
    this.whole?.forget(slot);
    this.put(slot, 'count', 0);
    this.empty++;
  }

  advance(watermark: number): void {
    try {
      this.#release(watermark);
      this.expire(watermark);
    } finally {
      this.due = Math.min(this.#held.next(), this.nextExpiry);
    }
  }

  protected override captureWaiting(): ValueArray {
    return Array.from(this.#held.items(), ({ row, order }) => [saveRow(row), order]);
  }

  protected saveFrom(store: WindowStore): Value {
    const { contents } = store;
    const states = this.open(store).map((slot) => [this.keyText(slot, store), contents?.get(slot) ?? this.saveCalls(slot, store)]);
    return [store.arrivals, states, store.waiting ?? [], this.saveTouched(store)];
  }

  /** Without numbers of events: those that `count()` gives are what matters. */
  load(saved: Value): void {
    const [arrivals, states, waiting, touched] = saved as ValueArray;
    this.counted = arrivals as number;
    for (const [key, calls] of states as readonly (readonly [string, Value])[]) {
      const slot = this.slotOfText(key);
      this.put(slot, 'count', 1);
      this.empty--;
      if (this.whole === null) this.loadCalls(slot, calls);
      else this.whole.put(slot, this.whole.contents.load(calls));
    }
    for (const one of waiting as readonly (readonly [Value, number])[]) {
      const [row, order] = [loadRow(one[0]), one[1]];
      this.#held.push(row.time, order, { row, order });
    }
    this.due = Math.min(this.due, this.#held.next());
    this.loadTouched(touched);
  }
}
