import type { Fields } from '../../../shared/events/event.ts';
import { keyHash } from './key-hash.ts';

/** Of which events an engine is one of several that share them. */
export interface ShareOptions {
  /** From 0 on. */
  readonly number: number;
  readonly count: number;
  /** By event type, the field whose value says whose its events are; null: any engine may take one. Types that are not here all take. */
  readonly keys: ReadonlyMap<string, string | null>;
}

/** Where something happens in a step of time, so that what engines do in the same step can be put in the order in which one engine does it. */
export interface StepPlace {
  /** Place of the stream whose turn it is, upstream first. */
  readonly stream: number;
  /** How many streams rows have been handed on since. */
  readonly level: number;
  /** What completes first, by deadline, then by the number of its first or last event. */
  readonly time: number;
  readonly rank: number;
}

/**
 * The events that one of several engines works on, which together do what one does with all: each takes those of its keys, and lets time
 * move to the others. Says whose the event at work is, and what is due in the order of time.
 */
export class EventShare {
  readonly number: number;
  readonly count: number;
  readonly keys: ShareOptions['keys'];
  /** Events that came in, invalid ones included. */
  events = 0;
  /** How many of them are whose. */
  readonly byOwner: Float64Array;
  /** Of what happens now; null: it follows from the event itself, not from time. */
  step: StepPlace | null = null;
  /** What time completes can be put in order by places: false where some of it is numbered by what this engine alone has seen. */
  isOrdered = true;

  constructor({ number, count, keys }: ShareOptions) {
    this.number = number;
    this.count = count;
    this.keys = keys;
    this.byOwner = new Float64Array(count);
  }

  /** Whether the event that has just come is this engine's. */
  takes(type: string, fields: Fields): boolean {
    const key = this.keys.get(type);
    if (key === undefined) return true;
    return this.own(key === null ? this.inTurn() : keyHash(fields.get(key) ?? null) % this.count);
  }

  own(owner: number): boolean {
    this.byOwner[owner] = (this.byOwner[owner] as number) + 1;
    return owner === this.number;
  }

  /** Whose an event is that may be anybody's. */
  inTurn(): number {
    return this.events % this.count;
  }

  beginStream(stream: number): void {
    this.step = { stream, level: 0, time: -Infinity, rank: 0 };
  }

  /** Something that time completes is handed on. */
  complete(time: number, rank: number): void {
    if (Number.isNaN(rank)) this.isOrdered = false;
    if (this.step !== null) this.step = { ...this.step, level: 0, time, rank };
  }
}
