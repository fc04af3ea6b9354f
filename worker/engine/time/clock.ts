import type { Value, ValueArray } from '../../../shared/events/value.ts';

/**
 * The highest event time seen on a source (ms), never going back. While a step of time runs, streams whose turn has not
 * come still read what it was before the step.
 */
export class Clock {
  #time = -Infinity;
  #before = -Infinity;
  #movedIn = -1;
  /** What it has come to without the end of the input. */
  #finite = -Infinity;
  /** Each broker partition on its own; their lowest is the source's. Null while the source has none. */
  #partitions: Map<string, number> | null = null;
  /** The lowest time of this clock at which some stream may have something to complete. */
  #dueAt = Infinity;

  now(): number {
    return this.#time;
  }

  /** What it was before the step of time with this number. */
  before(step: number): number {
    return this.#movedIn === step ? this.#before : this.#time;
  }

  /** What it was before the end of the input, moved on by rows that come behind it. */
  lastFinite(): number {
    return this.#finite;
  }

  isDue(): boolean {
    return this.#time >= this.#dueAt;
  }

  /** Something may be due when this clock reaches `time`. */
  schedule(time: number): void {
    if (time < this.#dueAt) this.#dueAt = time;
  }

  clearSchedule(): void {
    this.#dueAt = Infinity;
  }

  move(time: number, step: number, partition: string | null = null): void {
    const reached = partition === null ? time : this.#lowest(partition, time);
    if (reached < Infinity && reached > this.#finite) this.#finite = reached;
    if (reached <= this.#time) return;
    if (this.#movedIn !== step) {
      this.#before = this.#time;
      this.#movedIn = step;
    }
    this.#time = reached;
  }

  /** As `move`, for a source without partitions. Says whether something may be due. */
  reach(time: number, step: number): boolean {
    if (time > this.#time) {
      if (this.#movedIn !== step) {
        this.#before = this.#time;
        this.#movedIn = step;
      }
      this.#time = time;
    }
    if (time > this.#finite && time < Infinity) this.#finite = time;
    return this.#time >= this.#dueAt;
  }

  /** Moves all partitions as well: a tick, or the end of input. */
  moveAll(time: number, step: number): void {
    for (const [name, reached] of this.#partitions ?? []) this.#partitions?.set(name, Math.max(reached, time));
    this.move(time, step);
  }

  #lowest(partition: string, time: number): number {
    this.#partitions ??= new Map();
    this.#partitions.set(partition, Math.max(this.#partitions.get(partition) ?? -Infinity, time));
    return Math.min(...this.#partitions.values());
  }

  save(): Value {
    return [this.#time, this.#partitions, this.#finite];
  }

  load(saved: Value): void {
    const [time, partitions, finite] = saved as ValueArray;
    this.#time = time as number;
    this.#finite = finite as number;
    this.#partitions = partitions instanceof Map ? new Map(partitions) : null;
  }
}
