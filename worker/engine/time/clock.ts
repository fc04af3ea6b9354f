import { flag, mapOf, number, orAbsent, orNull, record, type Saved } from '../state/codec.ts';

/**
 * `partitions`: of a broker; null where the source has none. `finite`: what it had come to when the input ended. `stated`: the highest time
 * that an event gave it, where silence has brought it further. `hasOwn`: nobody leads it any more, though it stands where it was led to.
 */
export const savedClock = record({
  reached: number,
  partitions: orNull(mapOf(number)),
  finite: number,
  stated: orAbsent(number),
  hasOwn: orAbsent(flag),
});

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
  /** Each broker partition that the source waits for, on its own; their lowest is the source's. Null while the source has none. */
  private partitions: Map<string, number> | null = null;
  /** The partition that events come from, which come in batches; what it has reached is not among the partitions before `turnAway`. */
  private current: string | null = null;
  private currentReached = -Infinity;
  /** The lowest of all others. */
  private othersReached = Infinity;
  /** The highest time that an event gave it, where silence has brought it further. */
  private stated = -Infinity;
  /** To where silence has brought it. */
  private silentTo = -Infinity;
  /** An event has come from its own source since that, behind the time that it has come to. */
  private hasOwn = false;
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

  /** How far it has to go until something may be due; Infinity: nothing waits for it. */
  dueInMs(): number {
    return this.dueAt === Infinity ? Infinity : this.dueAt - this.reached;
  }

  /** Something may be due when this clock reaches `time`. */
  schedule(time: number): void {
    if (time < this.dueAt) this.dueAt = time;
  }

  clearSchedule(): void {
    this.dueAt = Infinity;
  }

  move(time: number, step: number, partition: string | null = null): void {
    const reached = partition === null ? time : this.movePartition(partition, time);
    if (reached <= this.reached) {
      this.moveBehind(Math.min(time, reached));
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
   * step, else no step of time is needed. `isAsked`: one is made in any case.
   */
  reach(time: number, step: number, isAsked: boolean): boolean {
    const before = this.reached;
    if (!(time > before)) {
      this.moveBehind(time);
      return before >= this.dueAt;
    }
    this.reached = time;
    if (time < this.dueAt && !isAsked) return false;
    if (time === Infinity) this.finite = before;
    this.reachedBefore = before;
    this.movedIn = step;
    return true;
  }

  /** Moves all partitions as well: a tick, or the end of input. */
  moveAll(time: number, step: number): void {
    this.turnAway();
    const { hasOwn } = this;
    for (const [name, reached] of this.partitions ?? []) if (reached < time) this.partitions?.set(name, time);
    this.move(time, step);
    this.hasOwn = hasOwn;
  }

  /** Those that it waits for. */
  partitionNames(): readonly string[] {
    return [...(this.partitions?.keys() ?? [])];
  }

  /** Events of this partition are on their way: time waits for them. */
  awaitPartition(partition: string): void {
    this.turnAway();
    this.partitions ??= new Map();
    if (!this.partitions.has(partition)) this.partitions.set(partition, -Infinity);
  }

  /**
   * Nothing comes from these partitions: time waits no more for those that are behind the others, until an event comes from them. Where
   * there are no others, it is that of the furthest. Repeated while that lasts: the others may pass one that is ahead of them.
   */
  leavePartitions(silent: ReadonlySet<string>, step: number): void {
    this.turnAway();
    if (this.partitions === null) return;
    const others = [...this.partitions.keys()].filter((partition) => !silent.has(partition));
    if (others.length === 0) {
      const furthest = Math.max(...this.partitions.values());
      this.partitions = null;
      this.move(furthest, step);
      return;
    }
    const { partitions } = this;
    const lowest = Math.min(...others.map((partition) => partitions.get(partition) as number));
    for (const partition of silent) if ((partitions.get(partition) ?? lowest) < lowest) partitions.delete(partition);
    this.move(Math.min(...partitions.values()), step);
  }

  /** An event of the partition has come that says no time to this clock: there may be none that does. */
  passBy(partition: string, step: number): void {
    this.turnAway();
    if (this.partitions?.get(partition) === -Infinity) this.leavePartitions(new Set([partition]), step);
  }

  /**
   * No event has come for so long: time goes on from what events have given, or follows the others from which something came, where none has
   * given any.
   */
  passSilence(silentMs: number, step: number, others = -Infinity): void {
    if (!this.isBySilence()) this.stated = this.reached;
    this.hasOwn = false;
    const time = this.stated === -Infinity ? others : this.stated + silentMs;
    if (time <= this.reached) return;
    this.moveAll(time, step);
    this.silentTo = this.reached;
  }

  /**
   * An event says a time that came from elsewhere, and for streams that wait for this clock. It counts while the own source has given none, or
   * is silent: until an event comes from that, also one behind. Says whether it did.
   */
  follow(time: number, step: number): boolean {
    if (this.partitions !== null || (this.reached > -Infinity && (this.hasOwn || !this.isBySilence()))) return false;
    this.move(time, step);
    this.hasOwn = false;
    this.stated = Math.max(this.stated, time);
    this.silentTo = this.reached;
    return true;
  }

  /** Some event has given it a time. */
  get isHeard(): boolean {
    return this.reached > -Infinity && !(this.isBySilence() && this.stated === -Infinity);
  }

  private isBySilence(): boolean {
    return this.reached === this.silentTo && this.reached > -Infinity;
  }

  private moveBehind(time: number): void {
    this.hasOwn = true;
    if (time > this.stated) this.stated = time;
    if (this.reached === Infinity && time < Infinity && time > this.finite) this.finite = time;
  }

  /** Gives the lowest time of all partitions. */
  private movePartition(partition: string, time: number): number {
    if (partition !== this.current) this.turnTo(partition);
    if (time > this.currentReached) this.currentReached = time;
    return Math.min(this.currentReached, this.othersReached);
  }

  private turnTo(partition: string): void {
    this.turnAway();
    this.partitions ??= new Map();
    this.current = partition;
    this.currentReached = this.partitions.get(partition) ?? -Infinity;
    this.partitions.set(partition, this.currentReached);
    this.othersReached = Infinity;
    for (const [name, reached] of this.partitions) if (name !== partition && reached < this.othersReached) this.othersReached = reached;
  }

  private turnAway(): void {
    if (this.current === null) return;
    this.partitions?.set(this.current, this.currentReached);
    this.current = null;
  }

  save(): Saved<typeof savedClock> {
    this.turnAway();
    const { reached, partitions } = this;
    const isBySilence = this.isBySilence();
    const stated = isBySilence ? this.stated : undefined;
    return { reached, partitions, finite: this.lastFinite(), stated, hasOwn: (isBySilence && this.hasOwn) || undefined };
  }

  load({ reached, partitions, finite, stated, hasOwn }: Saved<typeof savedClock>): void {
    this.reached = reached;
    this.finite = finite;
    this.stated = stated ?? -Infinity;
    this.silentTo = stated === undefined ? -Infinity : reached;
    this.hasOwn = hasOwn === true;
    this.partitions = partitions === null ? null : new Map(partitions);
    this.current = null;
  }
}
