import type { SourcePosition } from '../connector.ts';

/** What offsets count in: those of another topic, group or cluster say nothing. */
export interface OffsetScope {
  readonly cluster: string;
  readonly group: string;
  readonly topic: string;
  /** What tells the topic from another of its name. @default the brokers do not say */
  readonly identity?: string | undefined;
}

/** What the cluster knows of a partition. */
export interface PartitionOffsets {
  /** Of the next message that the group has not taken; undefined where it has taken none. */
  readonly committed: bigint | undefined;
  /** Of the first message that is still there. */
  readonly low: bigint;
  /** Behind the last message. */
  readonly high: bigint;
}

/** For each partition, the offset of the next message to take. */
export class TakenOffsets {
  readonly #next = new Map<number, bigint>();
  readonly #scope: OffsetScope;
  /** What was read under this name was another topic. */
  readonly #isMadeAnew: boolean = false;
  /** That the topic had when it was read last; undefined where that is not known. */
  #partitions: number | undefined;

  /** @param position As `with` gave it; of another scope it is nothing. */
  constructor(scope: OffsetScope, position: SourcePosition | null) {
    this.#scope = scope;
    const { cluster, group, topic, identity = scope.identity, partitions, offsets } = position ?? {};
    if (cluster !== scope.cluster || group !== scope.group || topic !== scope.topic) return;
    this.#isMadeAnew = scope.identity !== undefined && identity !== scope.identity;
    if (this.#isMadeAnew) return;
    if (typeof partitions === 'number') this.#partitions = partitions;
    for (const [partition, next] of Object.entries((offsets ?? {}) as Record<string, string>))
      this.#next.set(Number(partition), BigInt(next));
  }

  /** Undefined: nothing of it was taken. */
  next(partition: number): bigint | undefined {
    return this.#next.get(partition);
  }

  set(partition: number, next: bigint): void {
    this.#next.set(partition, next);
  }

  /** Whether it is known how many partitions the topic had. */
  get isCounted(): boolean {
    return this.#partitions !== undefined;
  }

  /**
   * The topic has so many partitions: those that it gets later hold nothing that was there before. One that was not there before is among those
   * only when somebody has begun to read it, as members of a group hear of it at different times.
   */
  count(partitions: number, isBegun: (partition: number) => boolean): void {
    let known = this.#partitions ?? partitions;
    while (known < partitions && isBegun(known)) known++;
    this.#partitions = known;
  }

  /** The position when the next message of a partition will be this one. */
  with(partition: number, next: bigint): SourcePosition {
    return this.#positionOf([...this.#next, [partition, next]]);
  }

  /** The position as it is. */
  get position(): SourcePosition {
    return this.#positionOf([...this.#next]);
  }

  #positionOf(next: readonly (readonly [partition: number, next: bigint])[]): SourcePosition {
    const { identity, ...scope } = this.#scope;
    const known = { ...(identity !== undefined && { identity }), ...(this.#partitions !== undefined && { partitions: this.#partitions }) };
    return { ...scope, ...known, offsets: Object.fromEntries(next.map(([at, offset]) => [at, String(offset)])) };
  }

  /**
   * Where to begin with a partition that is assigned anew: behind what was taken here or by the group, whichever is further. An offset that
   * the partition does not reach is of a topic that was made anew, or has lost messages: it counts as none. Where there is none, or it is not
   * there any more, `start` says; but what was written to a topic since it was read last is not passed over.
   */
  beginning(partition: number, offsets: PartitionOffsets, start: 'earliest' | 'latest'): bigint {
    const known = this.#known(partition, offsets);
    if (known !== undefined && known >= offsets.low) return known;
    const isNew = known === undefined && (this.#isMadeAnew || partition >= (this.#partitions ?? Number.POSITIVE_INFINITY));
    return start === 'earliest' || isNew ? offsets.low : offsets.high;
  }

  /** Of the first message that was not taken, where that is not there any more. */
  goneFrom(partition: number, offsets: PartitionOffsets): bigint | undefined {
    const known = this.#known(partition, offsets);
    return known !== undefined && known < offsets.low ? known : undefined;
  }

  #known(partition: number, { committed, high }: PartitionOffsets): bigint | undefined {
    const reached = [this.next(partition), committed].filter((offset) => offset !== undefined && offset <= high) as bigint[];
    return reached.length === 0 ? undefined : reached.reduce((one, other) => (one > other ? one : other));
  }
}
