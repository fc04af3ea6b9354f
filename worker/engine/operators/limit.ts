import type { Value } from '../../../shared/events/value.ts';
import type { LimitPlan } from '../../../shared/language/plan/plan.ts';
import { count, mapOf, stateOf } from '../state/codec.ts';
import { savedExpiry } from '../state/expiry.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, OperatorEnvironment, WindowFrame } from './operator.ts';
import { PartitionExpiry } from './partition-expiry.ts';
import type { Row } from './row.ts';

/** `passed`: how many rows, by partition. */
const savedState = stateOf({ name: 'limit', version: 1, members: { passed: mapOf(count), expiry: savedExpiry } });

/**
 * `.limit(n)`, `.first()`: the first n rows of each window and of each interim result of one, or of each partition over
 * the stream's life. There an interim result does not count, and does not pass a used-up limit.
 */
export class Limit extends BasicOperator {
  readonly #plan: LimitPlan;
  readonly #environment: OperatorEnvironment;
  readonly #passed = new Map<string, number>();
  readonly #expiry: PartitionExpiry;

  constructor(plan: LimitPlan, next: Next, environment: OperatorEnvironment) {
    super(next);
    this.#plan = plan;
    this.#environment = environment;
    this.#expiry = new PartitionExpiry(environment, (key) => this.#passed.delete(key));
  }

  process(row: Row): void {
    const key = this.#plan.extent === 'window' ? '' : this.#expiry.touch(row);
    const passed = this.#passed.get(key) ?? 0;
    if (passed >= this.#plan.count) {
      this.#environment.suppressed();
      return;
    }
    if (this.#plan.extent === 'window' || row.attributes?.get('is_final') !== false) this.#passed.set(key, passed + 1);
    this.next.process(row);
  }

  override endWindow(frame: WindowFrame): void {
    if (this.#plan.extent === 'window') this.#passed.clear();
    super.endWindow(frame);
  }

  override deadline(): number {
    return this.#expiry.deadline();
  }

  override advance(watermark: number): void {
    this.#expiry.advance(watermark);
  }

  override save(): Value {
    return savedState.save({ passed: this.#passed, expiry: this.#expiry.save() });
  }

  override load(saved: Value): void {
    const { passed, expiry } = savedState.load(saved);
    for (const [key, count] of passed) this.#passed.set(key, count);
    this.#expiry.load(expiry);
  }
}
