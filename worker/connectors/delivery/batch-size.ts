import type { OutgoingEvent } from './outgoing-event.ts';

/** Of the fields of one batch, so that it stays below what servers take at a time (Kafka: 1 MB by default). */
const BATCH_BYTES_MAX = 512 * 1024;

/** How much is sent at a time: less when a batch failed as a whole, as it may have been too large, and more again while batches are taken. */
export class BatchSize {
  readonly #max: number;
  #messages: number;
  #bytes = BATCH_BYTES_MAX;

  /** @param max Messages. */
  constructor(max: number) {
    this.#max = max;
    this.#messages = max;
  }

  /** The next batch: at least one event. */
  of(pending: readonly OutgoingEvent[]): readonly OutgoingEvent[] {
    let bytes = 0;
    const end = pending.findIndex(({ fieldsJson }, at) => {
      bytes += fieldsJson.length;
      return at > 0 && (at >= this.#messages || bytes > this.#bytes);
    });
    return end < 0 ? pending.slice() : pending.slice(0, end);
  }

  taken(): void {
    this.#messages = Math.min(this.#max, this.#messages * 2);
    this.#bytes = Math.min(BATCH_BYTES_MAX, this.#bytes * 2);
  }

  failed(): void {
    this.#messages = Math.max(1, this.#messages >> 1);
    this.#bytes = Math.max(1, this.#bytes >> 1);
  }
}
