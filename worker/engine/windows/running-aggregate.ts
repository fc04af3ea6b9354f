import type { Value, ValueArray } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { AggregateOperatorPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry } from '../state/expiry.ts';
import { Pictures, type Piece } from '../state/pictures.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { type Accumulators, Aggregation } from './aggregation.ts';
import { type PreparedItem, prepareItem, resultFields } from './window-content.ts';

interface OfKey extends Piece {
  readonly key: string;
  readonly state: Accumulators;
}

/**
 * `.aggregate` without a window: one result per event over everything so far in the partition. Where a result tells what
 * came before and `out_of_order` is set, events are held until the watermark reaches them.
 */
export class RunningAggregate implements Operator {
  readonly #plan: AggregateOperatorPlan;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #aggregation: Aggregation;
  readonly #items: readonly PreparedItem[];
  readonly #states = new Map<string, OfKey>();
  readonly #pictures = new Pictures<OfKey>(({ key, state }) => [key, state.save()]);
  readonly #held = new DeadlineQueue<{ row: Row; order: number }>();
  readonly #isHeld: boolean;
  readonly #expiry: Expiry;
  #arrivals = 0;

  constructor(plan: AggregateOperatorPlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = plan;
    this.#environment = environment;
    this.#next = next;
    this.#aggregation = new Aggregation(plan.aggregate, environment);
    this.#items = plan.aggregate.items.map((item) => prepareItem(item, environment));
    this.#isHeld = this.#aggregation.followsTime && environment.stream.time.outOfOrderMs > 0;
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  process(row: Row): void {
    this.#arrivals++;
    if (this.#isHeld) this.#hold(row, this.#arrivals, this.#environment.watermark());
    else this.#take(row, this.#arrivals);
  }

  #hold(row: Row, order: number, watermark: number): void {
    if (row.time < watermark) {
      this.#environment.late(row);
      return;
    }
    this.#held.push(row.time, order, { row, order });
    this.#release(watermark);
  }

  #release(watermark: number): void {
    for (let held = this.#held.popDue(watermark); held; held = this.#held.popDue(watermark)) this.#takeHeld(held.row, held.order);
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(this.#held.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    this.#release(watermark);
    for (const key of this.#expiry.expired(watermark)) this.#states.delete(key);
  }

  #takeHeld(row: Row, order: number): void {
    try {
      this.#take(row, order);
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      this.#environment.fail(error, row, this.#plan);
    }
  }

  #take(row: Row, order: number): void {
    const key = this.#environment.partition(row);
    const sample = this.#aggregation.sample(row, order);
    if (this.#expiry.isGone(key, row.time)) this.#states.delete(key);
    this.#expiry.touch(key, row.time);
    const state = this.#stateOf(key);
    state.add(sample);
    const keys = this.#environment.partitionFields(row);
    const base: Row = { ...row, bound: null, fields: new Map(keys) };
    this.#next.process({ ...base, fields: resultFields(this.#items, base, state.results(0), keys) });
  }

  #stateOf(key: string): Accumulators {
    let ofKey = this.#states.get(key);
    if (ofKey === undefined) {
      ofKey = { key, state: this.#aggregation.accumulators(), picture: this.#pictures.taken };
      this.#states.set(key, ofKey);
    }
    this.#pictures.beforeChange(ofKey);
    return ofKey.state;
  }

  save(): Value {
    return this.capture()();
  }

  capture(): () => Value {
    const held = [...this.#held.items()].map(({ row, order }) => [saveRow(row), order]);
    const [arrivals, expiry] = [this.#arrivals, this.#expiry.save()];
    const states = this.#pictures.take([...this.#states.values()]);
    return () => [arrivals, states(), held, expiry];
  }

  load(saved: Value): void {
    const [arrivals, states, held, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of states as ValueArray) {
      const [key, state] = one as readonly [string, Value];
      this.#states.set(key, { key, state: this.#aggregation.load(state), picture: this.#pictures.taken });
    }
    for (const one of held as ValueArray) {
      const [row, order] = one as ValueArray;
      const restored = loadRow(row as Value);
      this.#held.push(restored.time, order as number, { row: restored, order: order as number });
    }
    this.#expiry.load(expiry as Value);
  }
}
