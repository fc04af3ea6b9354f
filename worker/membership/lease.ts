/**
 * A right that ends by itself: to run, for as long as whoever gave it has promised to give it to nobody else. Times are those of a clock
 * of this process that nobody sets, in ms; it goes on while the process is stopped.
 */
export class Lease {
  #endsAt = Number.NEGATIVE_INFINITY;

  /** @param sentAt A moment before the request was sent that this is the answer to: whoever answered counts from a later one. */
  renew(sentAt: number, leaseMs: number): void {
    this.#endsAt = Math.max(this.#endsAt, sentAt + leaseMs);
  }

  /** It is over before its time, and only what is asked for from now on renews it. */
  end(): void {
    this.#endsAt = Number.NEGATIVE_INFINITY;
  }

  isHeld(now: number): boolean {
    return now < this.#endsAt;
  }

  remainingMs(now: number): number {
    return Math.max(0, this.#endsAt - now);
  }
}
