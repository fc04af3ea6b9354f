import { Expiry } from '../state/expiry.ts';
import type { OperatorEnvironment } from './operator.ts';
import type { Row } from './row.ts';

/** The partition keys of an operator and the end of those that `expire:` drops. */
export class PartitionExpiry {
  readonly #environment: OperatorEnvironment;
  readonly #expiry: Expiry;
  readonly #drop: (key: string) => void;

  /** `drop` forgets what is kept of a key. */
  constructor(environment: OperatorEnvironment, drop: (key: string) => void) {
    this.#environment = environment;
    this.#expiry = new Expiry(environment.stream.partition.expireMs, environment);
    this.#drop = drop;
  }

  /** The key of a row, which keeps it alive. */
  touch(row: Row): string {
    const key = this.#environment.partition(row);
    if (this.#expiry.isGone(key, row.time)) this.#drop(key);
    this.#expiry.touch(key, row.time);
    return key;
  }

  deadline(): number {
    return this.#expiry.deadline();
  }

  advance(watermark: number): void {
    for (const key of this.#expiry.expired(watermark)) this.#drop(key);
  }

  save(): ReadonlyMap<string, number> {
    return this.#expiry.save();
  }

  load(saved: ReadonlyMap<string, number>): void {
    this.#expiry.load(saved);
  }
}
