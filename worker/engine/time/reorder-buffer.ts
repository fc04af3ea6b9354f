import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Row } from '../operators/row.ts';
import { loadRow, saveRow } from '../state/saved-row.ts';
import { DeadlineQueue } from './deadline-queue.ts';

interface Held {
  readonly row: Row;
  /** Which of the owner's inputs it came by. */
  readonly lane: number;
  readonly arrival: number;
}

/** Holds rows until the watermark reaches them and gives them back by event time, then by arrival. */
export class ReorderBuffer {
  readonly #held = new DeadlineQueue<Held>();
  #arrivals = 0;

  add(row: Row, lane: number): void {
    this.#hold({ row, lane, arrival: ++this.#arrivals });
  }

  /** Time of the next row; Infinity when nothing is held. */
  deadline(): number {
    return this.#held.next();
  }

  /** Gives back every row whose time the watermark has reached. */
  release(watermark: number, receive: (row: Row, lane: number) => void): void {
    for (let held = this.#held.popDue(watermark); held; held = this.#held.popDue(watermark)) receive(held.row, held.lane);
  }

  #hold(held: Held): void {
    this.#held.push(held.row.time, held.arrival, held);
  }

  save(): Value {
    return [
      this.#arrivals,
      [...this.#held.items()].sort((a, b) => a.arrival - b.arrival).map((held) => [saveRow(held.row), held.lane, held.arrival]),
    ];
  }

  load(saved: Value): void {
    const [arrivals, held] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of held as ValueArray) {
      const [row, lane, arrival] = one as ValueArray;
      this.#hold({ row: loadRow(row as Value), lane: lane as number, arrival: arrival as number });
    }
  }
}
