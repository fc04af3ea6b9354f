import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { ThrottlePlan } from '../../../shared/language/plan/plan.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { resultLagMs } from '../time/result-lag.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from './operator.ts';
import { PartitionExpiry } from './partition-expiry.ts';
import type { Row } from './row.ts';

/** `.throttle(n, per: d)`: of each partition at most n rows within any d of event time; one exactly d later passes. */
export class Throttle implements Operator {
  readonly #plan: ThrottlePlan;
  readonly #next: Next;
  readonly #environment: OperatorEnvironment;
  /** Times of the rows that passed, by partition, in order of arrival. */
  readonly #passed = new Map<string, number[]>();
  readonly #ends = new DeadlineQueue<string>();
  readonly #expiry: PartitionExpiry;

  constructor(plan: ThrottlePlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = plan;
    this.#next = next;
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
    this.#next.process(row);
  }

  #keep(partition: string, times: number[]): void {
    this.#passed.set(partition, times);
    this.#ends.push(this.#endOf(times), 0, partition);
  }

  /** Watermark at which none of these can hold a row back that is in order. */
  #endOf(times: readonly number[]): number {
    return times.reduce((latest, time) => Math.max(latest, time), -Infinity) + this.#plan.perMs + resultLagMs(this.#environment.stream);
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(this.#ends.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    for (let partition = this.#ends.popDue(watermark); partition !== undefined; partition = this.#ends.popDue(watermark)) {
      const times = this.#passed.get(partition);
      if (times !== undefined && this.#endOf(times) <= watermark) this.#passed.delete(partition);
    }
    this.#expiry.advance(watermark);
  }

  save(): Value {
    return [[...this.#passed].map(([partition, times]) => [partition, [...times]]), this.#expiry.save()];
  }

  load(saved: Value): void {
    const [passed, expiry] = saved as ValueArray;
    for (const one of passed as ValueArray) {
      const [partition, times] = one as readonly [string, readonly number[]];
      this.#keep(partition, [...times]);
    }
    this.#expiry.load(expiry as Value);
  }
}
