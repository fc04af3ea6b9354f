import { keyOf } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { DedupePlan, DistinctPlan } from '../../../shared/language/plan/plan.ts';
import { stateOf } from '../state/codec.ts';
import { savedExpiry } from '../state/expiry.ts';
import { BasicOperator } from './basic-operator.ts';
import type { Next, WindowFrame } from './operator.ts';
import { PartitionExpiry } from './partition-expiry.ts';
import { RecentKeys, savedKeys } from './recent-keys.ts';
import { type Evaluate, type Row, reusableScope } from './row.ts';
import type { StreamEnvironment } from './stream-environment.ts';

const savedState = stateOf({ name: 'distinct', version: 1, members: { keys: savedKeys, expiry: savedExpiry } });

/**
 * `.distinct([e], within: d)` and `.dedupe(e, within: d)`: of each partition the first row of every key, and the next one
 * `d` or more after the last that passed. Inside a window it starts afresh with each window.
 */
export class Distinct extends BasicOperator {
  readonly #environment: StreamEnvironment;
  readonly #key: Evaluate | null;
  readonly #scopeOf = reusableScope();
  readonly #isPerWindow: boolean;
  readonly #keys: RecentKeys;
  readonly #expiry: PartitionExpiry;

  constructor(plan: DistinctPlan | DedupePlan, next: Next, environment: StreamEnvironment) {
    super(next);
    this.#environment = environment;
    this.#key = plan.key && environment.evaluator(plan.key);
    this.#isPerWindow = plan.kind === 'distinct' && plan.extent === 'window';
    this.#keys = new RecentKeys(plan.withinMs ?? Infinity, environment.lagMs(plan), environment);
    this.#expiry = new PartitionExpiry(environment, (partition) => this.#keys.drop(partition));
  }

  process(row: Row): void {
    const key = keyOf([this.#key === null ? presentOf(row.fields) : this.#key(this.#scopeOf(row))]);
    const partition = this.#isPerWindow ? '' : this.#expiry.touch(row);
    if (this.#keys.pass(partition, key, row.time)) this.next.process(row);
    else this.#environment.suppressed();
  }

  override endWindow(frame: WindowFrame): void {
    if (this.#isPerWindow) this.#keys.clear();
    super.endWindow(frame);
  }

  override deadline(): number {
    return Math.min(this.#keys.deadline(), this.#expiry.deadline());
  }

  override advance(watermark: number): void {
    this.#keys.advance(watermark);
    this.#expiry.advance(watermark);
  }

  override save(): Value {
    return savedState.save({ keys: this.#keys.save(), expiry: this.#expiry.save() });
  }

  override load(saved: Value): void {
    const { keys, expiry } = savedState.load(saved);
    this.#keys.load(keys);
    this.#expiry.load(expiry);
  }
}

/** A field that is null and one that is missing are the same. */
function presentOf(fields: Row['fields']): Row['fields'] {
  for (const value of fields.values()) {
    if (value === null) return new Map(Array.from(fields).filter(([, one]) => one !== null));
  }
  return fields;
}
