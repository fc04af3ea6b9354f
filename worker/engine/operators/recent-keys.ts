import { list, mapOf, number, orAbsent, record, type Saved, text } from '../state/codec.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { seenTime, type Watermarked } from '../time/seen-time.ts';

/** By partition: the time of the last row that passed under each key; and when it was seen, where that was later. */
export const savedKeys = list(record({ partition: text, keys: mapOf(number), seen: orAbsent(mapOf(number)) }));

interface Passed {
  readonly partition: string;
  readonly key: string;
  readonly time: number;
  /** The watermark that it lay behind when it passed; null = it did not. */
  readonly seen: number | null;
}

/**
 * Keys, by partition, with the time of the last row that passed under them: the next passes `withinMs` after it or later.
 * A key is forgotten when the watermark says that every row in order would pass anyway, also of a source that lags as it
 * did when the last one passed. So forgetting shows only in rows that come later still.
 */
export class RecentKeys {
  readonly #withinMs: number;
  /** For how long a key is remembered. */
  readonly #keepsMs: number;
  readonly #environment: Watermarked;
  readonly #partitions = new Map<string, Map<string, number>>();
  readonly #ends = new DeadlineQueue<Passed>();

  /** `withinMs` Infinity: nothing is forgotten. `slackMs`: how far rows in order may lie behind the watermark. */
  constructor(withinMs: number, slackMs: number, environment: Watermarked) {
    this.#withinMs = withinMs;
    this.#keepsMs = withinMs + slackMs;
    this.#environment = environment;
  }

  /** Whether a row may pass at this time; then it counts as passed. */
  pass(partition: string, key: string, time: number): boolean {
    const last = this.#partitions.get(partition)?.get(key);
    if (last !== undefined && time - last < this.#withinMs) return false;
    const seen = this.#keepsMs === Infinity ? time : seenTime(time, this.#keepsMs, this.#environment);
    this.#set({ partition, key, time, seen: seen === time ? null : seen });
    return true;
  }

  #set(passed: Passed): void {
    let keys = this.#partitions.get(passed.partition);
    if (keys === undefined) {
      keys = new Map();
      this.#partitions.set(passed.partition, keys);
    }
    keys.set(passed.key, passed.time);
    if (this.#keepsMs !== Infinity) this.#ends.push((passed.seen ?? passed.time) + this.#keepsMs, 0, passed);
  }

  deadline(): number {
    return this.#ends.next();
  }

  advance(watermark: number): void {
    for (let passed = this.#ends.popDue(watermark); passed; passed = this.#ends.popDue(watermark)) this.#forget(passed);
  }

  /** Unless the key has passed again since. */
  #forget({ partition, key, time }: Passed): void {
    const keys = this.#partitions.get(partition);
    if (keys?.get(key) !== time) return;
    keys.delete(key);
    if (keys.size === 0) this.#partitions.delete(partition);
  }

  drop(partition: string): void {
    this.#partitions.delete(partition);
  }

  clear(): void {
    this.#partitions.clear();
  }

  save(): Saved<typeof savedKeys> {
    const later = new Map<string, Map<string, number>>();
    for (const { partition, key, time, seen } of this.#ends.items()) {
      if (seen === null || this.#partitions.get(partition)?.get(key) !== time) continue;
      const keys = later.get(partition);
      if (keys === undefined) later.set(partition, new Map([[key, seen]]));
      else keys.set(key, seen);
    }
    return Array.from(this.#partitions, ([partition, keys]) => ({ partition, keys, seen: inOrderOf(keys, later.get(partition)) }));
  }

  load(saved: Saved<typeof savedKeys>): void {
    for (const { partition, keys, seen } of saved) {
      for (const [key, time] of keys) this.#set({ partition, key, time, seen: seen?.get(key) ?? null });
    }
  }
}

/** Those of some keys, in the order of all: what is saved does not depend on the order in which they end. */
function inOrderOf(
  all: ReadonlyMap<string, number>,
  some: ReadonlyMap<string, number> | undefined,
): ReadonlyMap<string, number> | undefined {
  if (some === undefined) return undefined;
  return new Map(
    Array.from(all.keys()).flatMap((key) => {
      const seen = some.get(key);
      return seen === undefined ? [] : [[key, seen] as const];
    }),
  );
}
