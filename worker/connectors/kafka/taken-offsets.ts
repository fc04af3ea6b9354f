import type { SourcePosition } from '../connector.ts';

/** What offsets count in: those of another topic, group or cluster say nothing. */
export interface OffsetScope {
  readonly cluster: string;
  readonly group: string;
  readonly topic: string;
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

  /** @param position As `with` gave it; of another scope it is nothing. */
  constructor(scope: OffsetScope, position: SourcePosition | null) {
    this.#scope = scope;
    const { cluster, group, topic, offsets } = position ?? {};
    if (cluster !== scope.cluster || group !== scope.group || topic !== scope.topic) return;
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

  /** The position when the next message of a partition will be this one. */
  with(partition: number, next: bigint): SourcePosition {
    const offsets = Object.fromEntries([...this.#next, [partition, next] as const].map(([at, offset]) => [at, String(offset)]));
    return { ...this.#scope, offsets };
  }

  /**
   * Where to begin with a partition that is assigned anew: behind what was taken here or by the group, whichever is further. An offset that
   * the partition does not reach is of a topic that was made anew, or has lost messages: it counts as none. Where there is none, `start` says.
   */
  beginning(partition: number, { committed, low, high }: PartitionOffsets, start: 'earliest' | 'latest'): bigint {
    const known = [this.next(partition), committed].filter((offset) => offset !== undefined && offset <= high) as bigint[];
    if (known.length === 0) return start === 'earliest' ? low : high;
    return known.reduce((one, other) => (one > other ? one : other));
  }
}
