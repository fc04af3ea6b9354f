import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import type { AggregateOperatorPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { anyValue, list, mapOf, number, record, stateOf, text } from '../../state/codec.ts';
import { savedRow } from '../../state/saved-row.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { type Accumulators, Aggregation } from '../../windows/aggregation.ts';
import type { WindowStore } from './call-forms.ts';
import type { Intake } from './intake.ts';
import { type Given, WholeRows } from './whole-rows.ts';
import { WindowKernel } from './window-kernel.ts';

type RunningRows = WholeRows<Accumulators, Aggregation>;

const savedWaiting = list(record({ row: savedRow, order: number }));

/** `waiting`: rows that events before them may still precede. */
const savedState = stateOf({
  name: 'running aggregate',
  version: 1,
  members: { arrivals: number, states: list(record({ key: text, calls: anyValue })), waiting: anyValue, touched: mapOf(number) },
});

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

  protected override get isSeenInOrder(): boolean {
    return this.#isHeld;
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
    if (sample !== null) state.add(whole.contents.taken(sample, row, [state]));
    this.next.process(whole.contents.runningRow(row, state.results(0)));
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
    return savedWaiting.save([...this.#held.items()]) as ValueArray;
  }

  protected saveFrom(store: WindowStore): Value {
    const { contents } = store;
    const states = this.open(store).map((slot) => {
      return { key: this.keyText(slot, store), calls: contents?.get(slot) ?? this.saveCalls(slot, store) };
    });
    return savedState.save({ arrivals: store.arrivals, states, waiting: store.waiting ?? [], touched: this.saveTouched(store) });
  }

  /** Without numbers of events: those that `count()` gives are what matters. */
  load(saved: Value): void {
    const { arrivals, states, waiting, touched } = savedState.load(saved);
    this.counted = arrivals;
    for (const { key, calls } of states) {
      const slot = this.slotOfText(key);
      this.put(slot, 'count', 1);
      this.empty--;
      if (this.whole === null) this.loadCalls(slot, calls);
      else this.whole.put(slot, this.whole.contents.load(calls));
    }
    for (const one of savedWaiting.load(waiting)) this.#held.push(one.row.time, one.order, one);
    this.due = Math.min(this.due, this.#held.next());
    this.loadTouched(touched);
  }
}
