import type { Value } from '../../../shared/events/value.ts';
import type { ThrottlePlan } from '../../../shared/language/plan/plan.ts';
import { list, number, record, stateOf, text } from '../state/codec.ts';
import { savedExpiry } from '../state/expiry.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { resultLagMs } from '../time/result-lag.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, OperatorEnvironment } from './operator.ts';
import { PartitionExpiry } from './partition-expiry.ts';
import type { Row } from './row.ts';

const savedState = stateOf({
  name: 'throttle',
  version: 1,
  members: { passed: list(record({ partition: text, times: list(number) })), expiry: savedExpiry },
});

/** `.throttle(n, per: d)`: of each partition at most n rows within any d of event time; one exactly d later passes. */
export class Throttle extends BasicOperator {
  readonly #plan: ThrottlePlan;
  readonly #environment: OperatorEnvironment;
  /** Times of the rows that passed, by partition, in order of arrival. */
  readonly #passed = new Map<string, readonly number[]>();
  readonly #ends = new DeadlineQueue<string>();
  readonly #expiry: PartitionExpiry;

  constructor(plan: ThrottlePlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#expiry = new PartitionExpiry(environment, (partition) => this.#passed.delete(partition));
  }

  process(row: Row): void {
    const partition = this.#expiry.touch(row);
    const recent = (this.#passed.get(partition) ?? []).filter((time) => row.time - time < this.#plan.perMs);
    if (recent.length >= this.#plan.count) {
      this.#environment.suppressed();
      return;
    }
    this.#keep(partition, [...recent, row.time]);
    this.next.process(row);
  }

  #keep(partition: string, times: readonly number[]): void {
    this.#passed.set(partition, times);
    this.#ends.push(this.#endOf(times), 0, partition);
  }

  /** Watermark at which none of these can hold a row back that is in order. */
  #endOf(times: readonly number[]): number {
    return times.reduce((latest, time) => Math.max(latest, time), -Infinity) + this.#plan.perMs + resultLagMs(this.#environment.stream);
  }

  override deadline(): number {
    return Math.min(this.#ends.next(), this.#expiry.deadline());
  }

  override advance(watermark: number): void {
    for (let partition = this.#ends.popDue(watermark); partition !== undefined; partition = this.#ends.popDue(watermark)) {
      const times = this.#passed.get(partition);
      if (times !== undefined && this.#endOf(times) <= watermark) this.#passed.delete(partition);
    }
    this.#expiry.advance(watermark);
  }

  override save(): Value {
    const passed = Array.from(this.#passed, ([partition, times]) => ({ partition, times }));
    return savedState.save({ passed, expiry: this.#expiry.save() });
  }

  override load(saved: Value): void {
    const { passed, expiry } = savedState.load(saved);
    for (const { partition, times } of passed) this.#keep(partition, times);
    this.#expiry.load(expiry);
  }
}
