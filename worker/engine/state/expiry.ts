import type { Value } from '../../../shared/events/value.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { justAfter, plus } from '../time/instants.ts';
import { seenTime, type Watermarked } from '../time/seen-time.ts';
import { mapOf, number } from './codec.ts';

/** The highest time at which each key was seen. */
export const savedExpiry = mapOf(number);

/**
 * `.partition_by(k, expire: d)`: a key whose last event is more than d ago loses its state. Times are event times, so the
 * outcome depends on the input alone: a key is gone once the watermark, or an event of its own, lies past `last + d`. The
 * events of a source that lags count as seen when the watermark stood where they came: a key that has them is not silent.
 */
export class Expiry {
  readonly #afterMs: number | null;
  readonly #environment: Watermarked | null;
  /** The highest time at which each key was seen. */
  readonly #lastTimes = new Map<string, number>();
  /** Every key once, at or before the time of its end: one that was touched since goes back in line. */
  readonly #ends = new DeadlineQueue<string>();

  /** `environment` null: every event is seen when time has come to it, and no further. */
  constructor(afterMs: number | null, environment: Watermarked | null) {
    this.#afterMs = afterMs;
    this.#environment = environment;
  }

  /** Notes an event of the key. */
  touch(key: string, time: number): void {
    if (this.#afterMs === null) return;
    this.#seen(key, this.#environment === null ? time : seenTime(time, this.#afterMs, this.#environment), this.#afterMs);
  }

  #seen(key: string, time: number, afterMs: number): void {
    const last = this.#lastTimes.get(key);
    if (last !== undefined && last >= time) return;
    this.#lastTimes.set(key, time);
    if (last === undefined) this.#queue(key, time, afterMs);
  }

  /** Whether the key's state had ended before event time `time`. */
  isGone(key: string, time: number): boolean {
    if (this.#afterMs === null) return false;
    const last = this.#lastTimes.get(key);
    return last !== undefined && time > plus(last, this.#afterMs);
  }

  /** First watermark at which a key may end. */
  deadline(): number {
    return this.#ends.next();
  }

  /** Forgets and names the keys that ended before `watermark`. */
  *expired(watermark: number): Iterable<string> {
    if (this.#afterMs === null) return;
    for (let key = this.#ends.popDue(watermark); key !== undefined; key = this.#ends.popDue(watermark)) {
      if (this.isGone(key, watermark)) {
        this.#lastTimes.delete(key);
        yield key;
      } else {
        this.#queue(key, this.#lastTimes.get(key) as number, this.#afterMs);
      }
    }
  }

  #queue(key: string, last: number, afterMs: number): void {
    this.#ends.push(justAfter(plus(last, afterMs)), 0, key);
  }

  save(): ReadonlyMap<string, number> {
    return new Map(this.#lastTimes);
  }

  /** @throws DamagedState */
  load(saved: Value): void {
    const lastTimes = savedExpiry.load(saved);
    if (this.#afterMs !== null) for (const [key, last] of lastTimes) this.#seen(key, last, this.#afterMs);
  }
}
