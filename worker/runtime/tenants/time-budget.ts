import { CepError } from '../../../shared/errors/error.ts';

const MINUTE_MS = 60_000;

/**
 * Work that a tenant may have done for it in a minute, ms. What is not used is saved up for a minute; what takes longer than is left is
 * finished, and the next has to wait for it. Times are milliseconds of any clock that only moves on.
 */
export class TimeBudget {
  readonly #msPerMinute: number;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(msPerMinute: number) {
    this.#msPerMinute = msPerMinute;
    this.#left = msPerMinute;
  }

  /** @param what The work, for the message. @throws CepError `quota_exceeded` while nothing is left */
  require(what: string, now: number): void {
    this.#refill(now);
    if (this.#left > 0) return;
    const seconds = Math.round(this.#msPerMinute / 1_000);
    throw new CepError('quota_exceeded', `${what} may take ${seconds} s of a minute for this tenant, and they are used up`, {
      hint: 'check programs with `cep check` before they are sent',
      retryAfterSeconds: Math.ceil(((1 - this.#left) / this.#msPerMinute) * (MINUTE_MS / 1_000)),
    });
  }

  spend(ms: number, now: number): void {
    this.#refill(now);
    this.#left -= ms;
  }

  #refill(now: number): void {
    const saved = (Math.max(0, now - this.#at) / MINUTE_MS) * this.#msPerMinute;
    this.#left = Math.min(this.#msPerMinute, this.#left + saved);
    this.#at = now;
  }
}
