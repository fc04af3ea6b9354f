import type { Row } from '../operators/row.ts';
import { count, list, record, type Saved } from '../state/codec.ts';
import { savedRow } from '../state/saved-row.ts';
import { DeadlineQueue } from './deadline-queue.ts';

/** In order of arrival. */
export const savedBuffer = record({ arrivals: count, held: list(record({ row: savedRow, lane: count, arrival: count })) });

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

  /** What it holds, in order of arrival. */
  all(): readonly Held[] {
    return [...this.#held.items()].sort((a, b) => a.arrival - b.arrival);
  }

  #hold(held: Held): void {
    this.#held.push(held.row.time, held.arrival, held);
  }

  save(): Saved<typeof savedBuffer> {
    return { arrivals: this.#arrivals, held: this.all() };
  }

  load({ arrivals, held }: Saved<typeof savedBuffer>): void {
    this.#arrivals = arrivals;
    for (const one of held) this.#hold(one);
  }
}
