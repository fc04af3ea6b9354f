import type { Redis } from 'ioredis';
import { type ClaimReply, claimedOf, type Entry, entriesOf, type StreamsReply } from './stream-entries.ts';
import type { IdRange, TakenIds } from './taken-ids.ts';

/** What no member has said for so long that it works on it, another takes over, ms. */
export const IDLE_MS = 60_000;
const BEGINNING = '0';
/** No more are pending behind what was looked at. */
const THROUGH = '0-0';

export interface GroupMemberOptions {
  readonly client: Redis;
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
  readonly idleMs: number;
  /** How long a read waits for entries. */
  readonly blockMs: number;
  /** Those that were taken over an earlier connection. */
  readonly taken: TakenIds;
  /** Asked for at a time. */
  readonly count: () => number;
  readonly isClosed: () => boolean;
  /** Resolves when they are safe, with false when they are not taken. `ranges`: of all that the server may not have heard of then. */
  readonly take: (entries: readonly Entry[], ranges: readonly IdRange[]) => Promise<boolean>;
}

/**
 * Reads as a member of a consumer group: what it was given before and has not acknowledged, then what nobody was given, and now and then what
 * members have left that are gone. Each entry is acknowledged once it is safe; as long as that takes the server is told that it is worked on.
 */
export class GroupMember {
  readonly #options: GroupMemberOptions;
  #mayTakeOver = true;

  constructor(options: GroupMemberOptions) {
    this.#options = options;
  }

  /** Resolves when something was not taken, or it is closed. */
  async read(): Promise<void> {
    const { isClosed, idleMs } = this.#options;
    if (!(await this.#readOwn())) return;
    for (let lookedAt = Number.NEGATIVE_INFINITY; !isClosed(); ) {
      if (this.#mayTakeOver && performance.now() - lookedAt >= idleMs / 2) {
        if (!(await this.#takeOver())) return;
        lookedAt = performance.now();
      }
      const entries = await this.#entries('>');
      const [first, last] = [entries[0]?.[0], entries.at(-1)?.[0]];
      if (first === undefined || last === undefined) continue;
      // The server gives all that there is between the two, and that to nobody else.
      if (!(await this.#take(entries, [[first, last]]))) return;
    }
  }

  async #entries(from: string): Promise<readonly Entry[]> {
    const { client, stream, group, consumer, blockMs, count } = this.#options;
    const options = ['GROUP', group, consumer, 'COUNT', count(), 'BLOCK', blockMs, 'STREAMS', stream, from] as const;
    return entriesOf((await client.xreadgroupBuffer(...options)) as StreamsReply);
  }

  /** An entry that was taken, and whose acknowledgement was lost, is only acknowledged. */
  async #readOwn(): Promise<boolean> {
    const { taken, isClosed } = this.#options;
    while (!isClosed()) {
      const entries = await this.#entries(BEGINNING);
      const fresh = entries.filter(([id]) => !taken.has(id));
      const ranges = rangesOf(fresh);
      if (fresh.length > 0 && !(await this.#held(fresh, ranges))) return false;
      if (entries.length === 0) break;
      await this.#acknowledge(entries, ranges);
    }
    taken.clear();
    return !isClosed();
  }

  async #takeOver(): Promise<boolean> {
    const { isClosed } = this.#options;
    for (let from = THROUGH; !isClosed(); ) {
      const { next, entries } = await this.#claimed(from);
      if (entries.length > 0 && !(await this.#take(entries, rangesOf(entries)))) return false;
      if (next === THROUGH) break;
      from = next;
    }
    return !isClosed();
  }

  async #claimed(from: string): Promise<ReturnType<typeof claimedOf>> {
    const { client, stream, group, consumer, idleMs, count } = this.#options;
    try {
      return claimedOf((await client.callBuffer('XAUTOCLAIM', stream, group, consumer, idleMs, from, 'COUNT', count())) as ClaimReply);
    } catch (error) {
      // Servers before 6.2, and users who may not: all else works.
      if (!(error instanceof Error) || !/^(?:ERR unknown command|NOPERM)/i.test(error.message)) throw error;
      this.#mayTakeOver = false;
      return { next: THROUGH, entries: [] };
    }
  }

  async #take(entries: readonly Entry[], ranges: readonly IdRange[]): Promise<boolean> {
    if (!(await this.#held(entries, ranges))) return false;
    await this.#acknowledge(entries, ranges);
    return true;
  }

  /** @param ranges Those among them that were taken just now. */
  async #acknowledge(entries: readonly Entry[], ranges: readonly IdRange[]): Promise<void> {
    const { client, stream, group, taken } = this.#options;
    await client.xack(stream, group, ...entries.map(([id]) => id));
    taken.forget(ranges);
  }

  /** Hands them over, and tells the server meanwhile that they are worked on: they may have to wait for room, or for a checkpoint. */
  async #held(entries: readonly Entry[], ranges: readonly IdRange[]): Promise<boolean> {
    const { client, stream, group, consumer, idleMs, taken, take } = this.#options;
    const ids = entries.flatMap(([id, fields]) => (fields === null ? [] : [id]));
    let toldAt = performance.now();
    const tell = (): void => {
      const stoodMs = performance.now() - toldAt;
      // After a standstill they are those of another member, from whom they are not to be taken back.
      if (stoodMs >= idleMs || ids.length === 0) return;
      toldAt += stoodMs;
      client.xclaim(stream, group, consumer, 0, ...ids, 'JUSTID').catch(() => undefined); // The next command says what is wrong.
    };
    const telling = setInterval(tell, idleMs / 3);
    try {
      if (!(await take(entries, [...taken.ranges, ...ranges]))) return false;
    } finally {
      clearInterval(telling);
    }
    taken.add(ranges);
    return true;
  }
}

/** Each by itself: what stands between them may be another member's. */
function rangesOf(entries: readonly Entry[]): readonly IdRange[] {
  return entries.map(([id]) => [id, id]);
}
