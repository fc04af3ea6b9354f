import type { Value, ValueMap } from '../../../shared/events/value.ts';

/** Event times have microsecond resolution: the smallest step past a deadline that is still in time. */
export const TIME_STEP_MS = 0.001;

/**
 * `.partition_by(k, expire: d)`: a key whose last event is more than d ago loses its state. Times are event times, so the
 * outcome depends on the input alone: a key is gone at `last + d`, however late somebody looks.
 */
export class Expiry {
  readonly #afterMs: number | null;
  /** Last event time by key, least recently touched first. */
  readonly #lastTimes = new Map<string, number>();

  constructor(afterMs: number | null) {
    this.#afterMs = afterMs;
  }

  /** Notes an event of the key. */
  touch(key: string, time: number): void {
    if (this.#afterMs === null) return;
    const last = this.#lastTimes.get(key);
    this.#lastTimes.delete(key);
    this.#lastTimes.set(key, last === undefined ? time : Math.max(last, time));
  }

  /** Whether the key's state had ended before event time `time`. */
  isGone(key: string, time: number): boolean {
    if (this.#afterMs === null) return false;
    const last = this.#lastTimes.get(key);
    return last !== undefined && time > last + this.#afterMs;
  }

  /** First watermark at which a key ends; a lower bound, as keys touched again stay in line. */
  deadline(): number {
    if (this.#afterMs === null) return Infinity;
    for (const last of this.#lastTimes.values()) return last + this.#afterMs + TIME_STEP_MS;
    return Infinity;
  }

  /** Forgets and names the keys that ended before `watermark`. Displaced events may keep a key in line a little longer. */
  *expired(watermark: number): Iterable<string> {
    if (this.#afterMs === null) return;
    for (const [key, last] of this.#lastTimes) {
      if (watermark <= last + this.#afterMs) return;
      this.#lastTimes.delete(key);
      yield key;
    }
  }

  save(): Value {
    return new Map(this.#lastTimes);
  }

  load(saved: Value): void {
    for (const [key, last] of saved as ValueMap) this.#lastTimes.set(key, last as number);
  }
}
