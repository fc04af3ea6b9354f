/**
 * What somebody has had and time has not made up for yet: goes up with what is added, and down at a steady rate, to nothing.
 * Times are milliseconds of any clock that only moves on.
 */
export class Debt {
  readonly #paidPerMs: number;
  #amount = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  constructor(paidPerMs: number) {
    this.#paidPerMs = paidPerMs;
  }

  add(amount: number, nowMs: number): void {
    this.#amount = Math.max(0, this.at(nowMs) + amount);
    this.#atMs = nowMs;
  }

  /** How much it is. */
  at(nowMs: number): number {
    return this.#amount === 0 ? 0 : Math.max(0, this.#amount - Math.max(0, nowMs - this.#atMs) * this.#paidPerMs);
  }

  /** How long until it is down to that amount, if nothing is added. */
  msUntil(amount: number, nowMs: number): number {
    return Math.max(0, this.at(nowMs) - amount) / this.#paidPerMs;
  }
}
