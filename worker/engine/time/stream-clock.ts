import type { Clock } from './clock.ts';
import type { DeadlineTree } from './deadline-tree.ts';
import { lowestHold, type WatermarkHold } from './watermark-hold.ts';

/** A clock that feeds a stream, and by how much (ms) the stream's watermark stays behind it. */
export interface Reading {
  readonly clock: Clock;
  readonly lagMs: number;
}

/** A stream that this one follows, and by how much (ms) its watermark stays behind that stream's. */
export interface Following {
  readonly clock: StreamClock;
  readonly behindMs: number;
}

const NOTHING: readonly never[] = [];

/** A stream's watermark: the lowest of the clocks that feed it, and no further than the streams it follows let time pass. */
export class StreamClock {
  readonly readings: readonly Reading[];
  /** The clock that this stream's own rows move, where it takes the time from a field of what another stream made. */
  readonly own: Clock | null;
  readonly #holds: WatermarkHold[] = [];
  readonly #follows: readonly Following[];
  /** The only clock that says what time it is here; null = more than that says it. */
  private readonly only: Reading | null;
  /** A clock that the watermark is never ahead of; null = there is none. */
  private readonly highest: Clock | null;
  /** Where the stream waits, and its place there. */
  private deadlines: DeadlineTree | null = null;
  private place = 0;

  /** `follows`: the streams upstream that may hold rows back. */
  constructor(readings: readonly Reading[], own: Clock | null, follows: readonly Following[] = NOTHING) {
    this.readings = readings;
    this.own = own;
    this.#follows = follows;
    const [first = null] = readings;
    this.highest = first?.clock ?? null;
    this.only = readings.length === 1 && own === null && follows.length === 0 ? first : null;
  }

  /** The only clock that moves the stream, where no row of it is held back either; null = there is more to it. */
  get single(): Reading | null {
    return this.#holds.length === 0 ? this.only : null;
  }

  /** From now on the deadlines of a stream with a single clock are kept among those of others. */
  waitAmong(deadlines: DeadlineTree, place: number): void {
    this.deadlines = deadlines;
    this.place = place;
  }

  /** Followers of this stream see no time beyond the hold. */
  add(hold: WatermarkHold): void {
    this.#holds.push(hold);
  }

  /** Whether the stream follows one in which this hold stands. */
  isBehind(hold: WatermarkHold): boolean {
    return this.#follows.some(({ clock }) => clock.#holds.includes(hold) || clock.isBehind(hold));
  }

  now(): number {
    const { only } = this;
    return only === null ? this.#lowest(null) : only.clock.now() - only.lagMs;
  }

  /** Whether the watermark may lie past a time. One of the clocks that feed the stream is asked: the watermark is never ahead of it. */
  mayHavePassed(time: number): boolean {
    return this.highest === null || time < this.highest.now();
  }

  /** What it was before the step of time with this number. */
  before(step: number): number {
    return this.#lowest(step);
  }

  /** A stream with a clock of its own is not held at a time of the stream before it: only the end of input waits. */
  #lowest(step: number | null): number {
    const held = this.#follows.length === 0 ? Infinity : this.#heldBefore(step);
    const isEndHeld = held < Infinity && this.own !== null;
    let lowest = this.own === null ? held : Infinity;
    for (const { clock, lagMs } of this.readings) {
      const time = step === null ? clock.now() : clock.before(step);
      lowest = Math.min(lowest, (isEndHeld && clock === this.own ? Math.min(time, clock.lastFinite()) : time) - lagMs);
    }
    return lowest;
  }

  #heldBefore(step: number | null): number {
    let held = Infinity;
    for (const { clock, behindMs } of this.#follows) held = Math.min(held, clock.#held(step) - behindMs);
    return held;
  }

  #held(step: number | null): number {
    return Math.min(lowestHold(this.#holds, step), this.#heldBefore(step));
  }

  /**
   * Wakes the program when the watermark can have reached `deadline`: one clock that has not got there is enough to watch.
   * What waits behind a hold needs no waking: the release is a separate step.
   */
  schedule(deadline: number): void {
    if (this.deadlines !== null && this.only !== null) {
      const time = deadline + this.only.lagMs;
      this.deadlines.set(this.place, time);
      this.only.clock.schedule(time);
      return;
    }
    if (deadline === Infinity) return;
    if (this.#follows.length > 0 && this.#heldBefore(null) < deadline) return;
    const [first] = this.readings;
    const behind = this.readings.find(({ clock, lagMs }) => clock.now() - lagMs < deadline);
    if (behind !== undefined) behind.clock.schedule(deadline + behind.lagMs);
    else first?.clock.schedule(-Infinity);
  }
}
