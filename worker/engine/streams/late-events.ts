import type { WaitingQueues } from '../analytics/waiting-queues.ts';

/** Orders of late events are looked through for such as nothing waits for once there are so many. */
const KEPT_MIN = 256;

/** Counts events that are late for some stream, each once: its rows may be late for another one, also when they have waited and others came meanwhile. */
export class LateEvents {
  count = 0;
  /** Arrival number of the newest that was late; 0 before the first. */
  newest = 0;
  readonly #waiting: WaitingQueues;
  /** Those that were late while rows waited. */
  readonly #orders = new Set<number>();
  #keptMax = KEPT_MIN;

  constructor(waiting: WaitingQueues) {
    this.#waiting = waiting;
  }

  /** @param order Of the event at work. */
  note(order: number): void {
    if (order === this.newest || this.#orders.has(order)) return;
    this.count++;
    if (this.#waiting.isSome || order < this.newest) this.#keep(order);
    else this.#orders.clear();
    this.newest = Math.max(this.newest, order);
  }

  #keep(order: number): void {
    const orders = this.#orders.add(this.newest).add(order);
    if (orders.size <= this.#keptMax) return;
    const oldest = Math.min(order, this.#waiting.oldest);
    for (const one of orders) if (one < oldest) orders.delete(one);
    this.#keptMax = Math.max(KEPT_MIN, 2 * orders.size);
  }
}
