import type { Value } from '../../../shared/events/value.ts';
import type { ThrottlePlan } from '../../../shared/language/plan/plan.ts';
import { list, number, orAbsent, record, stateOf, text } from '../state/codec.ts';
import { savedExpiry } from '../state/expiry.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { seenTime } from '../time/seen-time.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next } from './operator.ts';
import { PartitionExpiry } from './partition-expiry.ts';
import { PassedTimes } from './passed-times.ts';
import type { Row } from './row.ts';
import type { StreamEnvironment } from './stream-environment.ts';

/** `seen`: where the watermark lay past the newest of the times when they passed, the highest that it was. */
const savedTimes = record({ partition: text, times: list(number), seen: orAbsent(number) });

const savedState = stateOf({ name: 'throttle', version: 1, members: { passed: list(savedTimes), expiry: savedExpiry } });

/** `.throttle(n, per: d)`: of each partition at most n rows within any d of event time; one exactly d later passes. */
export class Throttle extends BasicOperator {
  readonly #plan: ThrottlePlan;
  readonly #environment: StreamEnvironment;
  /** By partition. */
  readonly #passed = new Map<string, PassedTimes>();
  /** Every partition once, at or before the watermark at which it is forgotten. */
  readonly #ends = new DeadlineQueue<PassedTimes>();
  readonly #expiry: PartitionExpiry;
  readonly #lagMs: number;

  constructor(plan: ThrottlePlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#lagMs = environment.lagMs(plan);
    this.#expiry = new PartitionExpiry(environment, (partition) => this.#passed.delete(partition));
  }

  process(row: Row): void {
    const partition = this.#expiry.touch(row);
    const { count, perMs } = this.#plan;
    const times = this.#passed.get(partition);
    if (times?.holds(count, perMs, row.time) === true) {
      this.#environment.suppressed();
      return;
    }
    const seen = seenTime(row.time, perMs + this.#lagMs, this.#environment);
    if (times === undefined) this.#keep(new PassedTimes(partition, [row.time], seen));
    else {
      // Rows that are still in order may lie as far behind this one.
      times.dropBefore(Math.min(row.time, this.#environment.watermark() - this.#lagMs), perMs);
      times.add(row.time, seen);
    }
    this.next.process(row);
  }

  #keep(times: PassedTimes): void {
    this.#passed.set(times.partition, times);
    this.#ends.push(this.#endOf(times), 0, times);
  }

  /** Watermark at which none of these can hold a row back that is in order. */
  #endOf({ seen }: PassedTimes): number {
    return seen + this.#plan.perMs + this.#lagMs;
  }

  override deadline(): number {
    return Math.min(this.#ends.next(), this.#expiry.deadline());
  }

  override advance(watermark: number): void {
    for (let times = this.#ends.popDue(watermark); times !== undefined; times = this.#ends.popDue(watermark))
      this.#forgetIfOver(times, watermark);
    this.#expiry.advance(watermark);
  }

  /** Rows that passed since it was put in line put it there again. */
  #forgetIfOver(times: PassedTimes, watermark: number): void {
    if (this.#passed.get(times.partition) !== times) return;
    const end = this.#endOf(times);
    if (end <= watermark) this.#passed.delete(times.partition);
    else this.#ends.push(end, 0, times);
  }

  override save(): Value {
    const passed = Array.from(this.#passed.values(), (times) => {
      const { partition, seen, latest } = times;
      return { partition, times: times.save(), seen: seen > latest ? seen : undefined };
    });
    return savedState.save({ passed, expiry: this.#expiry.save() });
  }

  override load(saved: Value): void {
    const { passed, expiry } = savedState.load(saved);
    for (const { partition, times, seen } of passed) this.#keep(new PassedTimes(partition, times, seen));
    this.#expiry.load(expiry);
  }
}
