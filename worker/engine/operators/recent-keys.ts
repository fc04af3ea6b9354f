import { list, mapOf, number, record, type Saved, text } from '../state/codec.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';

/** By partition: the time of the last row that passed under each key. */
export const savedKeys = list(record({ partition: text, keys: mapOf(number) }));

interface Passed {
  readonly partition: string;
  readonly key: string;
  readonly time: number;
}

/**
 * Keys, by partition, with the time of the last row that passed under them: the next passes `withinMs` after it or later.
 * A key is forgotten when the watermark says that every row in order would pass anyway, so forgetting shows only in rows
 * that come that late.
 */
export class RecentKeys {
  readonly #withinMs: number;
  readonly #slackMs: number;
  readonly #partitions = new Map<string, Map<string, number>>();
  readonly #ends = new DeadlineQueue<Passed>();

  /** `withinMs` Infinity: nothing is forgotten. `slackMs`: how far rows in order may lie behind the watermark. */
  constructor(withinMs: number, slackMs: number) {
    this.#withinMs = withinMs;
    this.#slackMs = slackMs;
  }

  /** Whether a row may pass at this time; then it counts as passed. */
  pass(partition: string, key: string, time: number): boolean {
    const last = this.#partitions.get(partition)?.get(key);
    if (last !== undefined && time - last < this.#withinMs) return false;
    this.#set({ partition, key, time: Math.max(last ?? time, time) });
    return true;
  }

  #set(passed: Passed): void {
    let keys = this.#partitions.get(passed.partition);
    if (keys === undefined) {
      keys = new Map();
      this.#partitions.set(passed.partition, keys);
    }
    keys.set(passed.key, passed.time);
    if (this.#withinMs !== Infinity) this.#ends.push(passed.time + this.#withinMs + this.#slackMs, 0, passed);
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
    return Array.from(this.#partitions, ([partition, keys]) => ({ partition, keys }));
  }

  load(saved: Saved<typeof savedKeys>): void {
    for (const { partition, keys } of saved) for (const [key, time] of keys) this.#set({ partition, key, time });
  }
}
