import { mapOf, number, orNull, record, type Saved } from '../state/codec.ts';

/** `partitions`: of a broker; null where the source has none. `finite`: what it had come to when the input ended. */
export const savedClock = record({ reached: number, partitions: orNull(mapOf(number)), finite: number });

/**
 * The highest event time seen on a source (ms), never going back. While a step of time runs, streams whose turn has not
 * come still read what it was before the step.
 */
export class Clock {
  private reached = -Infinity;
  private reachedBefore = -Infinity;
  private movedIn = -1;
  /** What it had come to when the input ended, moved on by rows that came behind the end. */
  private finite = -Infinity;
  /** Each broker partition on its own; their lowest is the source's. Null while the source has none. */
  private partitions: Map<string, number> | null = null;
  /** The lowest time of this clock at which some stream may have something to complete. */
  private dueAt = Infinity;

  now(): number {
    return this.reached;
  }

  /** What it was before the step of time with this number. */
  before(step: number): number {
    return this.movedIn === step ? this.reachedBefore : this.reached;
  }

  /** What it was before the end of the input, moved on by rows that come behind it. */
  lastFinite(): number {
    return this.reached < Infinity ? this.reached : this.finite;
  }

  isDue(): boolean {
    return this.reached >= this.dueAt;
  }

  /** Something may be due when this clock reaches `time`. */
  schedule(time: number): void {
    if (time < this.dueAt) this.dueAt = time;
  }

  clearSchedule(): void {
    this.dueAt = Infinity;
  }

  move(time: number, step: number, partition: string | null = null): void {
    const reached = partition === null ? time : this.lowest(partition, time);
    if (reached <= this.reached) {
      this.moveBehindEnd(reached);
      return;
    }
    if (reached === Infinity) this.finite = this.reached;
    if (this.movedIn !== step) {
      this.reachedBefore = this.reached;
      this.movedIn = step;
    }
    this.reached = reached;
  }

  /**
   * As `move` of the only clock of a program, without partitions. Says whether something may be due: then it has moved in this
   * step, else no step of time is needed.
   */
  reach(time: number, step: number): boolean {
    const before = this.reached;
    if (!(time > before)) {
      this.moveBehindEnd(time);
      return before >= this.dueAt;
    }
    this.reached = time;
    if (time < this.dueAt) return false;
    if (time === Infinity) this.finite = before;
    this.reachedBefore = before;
    this.movedIn = step;
    return true;
  }

  /** Moves all partitions as well: a tick, or the end of input. */
  moveAll(time: number, step: number): void {
    for (const [name, reached] of this.partitions ?? []) this.partitions?.set(name, Math.max(reached, time));
    this.move(time, step);
  }

  private moveBehindEnd(time: number): void {
    if (this.reached === Infinity && time < Infinity && time > this.finite) this.finite = time;
  }

  private lowest(partition: string, time: number): number {
    this.partitions ??= new Map();
    this.partitions.set(partition, Math.max(this.partitions.get(partition) ?? -Infinity, time));
    let first = Infinity;
    for (const reached of this.partitions.values()) if (reached < first) first = reached;
    return first;
  }

  save(): Saved<typeof savedClock> {
    return { reached: this.reached, partitions: this.partitions, finite: this.lastFinite() };
  }

  load({ reached, partitions, finite }: Saved<typeof savedClock>): void {
    this.reached = reached;
    this.finite = finite;
    this.partitions = partitions === null ? null : new Map(partitions);
  }
}
