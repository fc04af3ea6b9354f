import { randomUUID } from 'node:crypto';
import type { OutgoingEvent } from './outgoing-event.ts';

/** As a checkpoint keeps it. */
export interface SavedLedger {
  readonly id: string;
  /** The number that was given last. */
  readonly last: number;
}

/**
 * Numbers the events of a sink that awaits checkpoints, and says which of them one has. What is in none yet may come out otherwise after a
 * crash, so it must not be seen outside; what is in one has its number for good.
 */
export class Ledger {
  #id: string = randomUUID();
  #last = 0;
  /** Up to here everything is in a checkpoint that is safe. */
  #safe = 0;

  /** Goes on where that one was. */
  load({ id, last }: SavedLedger): void {
    this.#id = id;
    this.#last = last;
    this.#safe = last;
  }

  save(): SavedLedger {
    return { id: this.#id, last: this.#last };
  }

  placed(event: OutgoingEvent): OutgoingEvent {
    // One that comes from a checkpoint has its place.
    return event.place === undefined ? { ...event, place: { ledger: this.#id, number: ++this.#last } } : event;
  }

  /** A checkpoint that has this is safe. */
  safe({ id, last }: SavedLedger): void {
    if (id === this.#id) this.#safe = Math.max(this.#safe, last);
  }

  isSafe({ place }: OutgoingEvent): boolean {
    return place === undefined || place.ledger !== this.#id || place.number <= this.#safe;
  }
}
