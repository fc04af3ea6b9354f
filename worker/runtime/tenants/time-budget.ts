import { CepError } from '../../../shared/errors/error.ts';
import { Debt } from '../../../shared/security/debt.ts';

const MINUTE_MS = 60_000;

/**
 * Work that a tenant may have done for it in a minute, ms. What is not used is saved up for a minute; what takes longer than is left is
 * finished, and the next has to wait for it. Times are milliseconds of any clock that only moves on.
 */
export class TimeBudget {
  readonly #msPerMinute: number;
  readonly #used: Debt;

  constructor(msPerMinute: number) {
    this.#msPerMinute = msPerMinute;
    this.#used = new Debt(msPerMinute / MINUTE_MS);
  }

  /** @param what The work, for the message. @throws CepError `quota_exceeded` while nothing is left */
  require(what: string, now: number): void {
    if (this.#used.at(now) < this.#msPerMinute) return;
    const seconds = Math.round(this.#msPerMinute / 1_000);
    throw new CepError('quota_exceeded', `${what} may take ${seconds} s of a minute for this tenant, and they are used up`, {
      hint: 'check programs with `cep check` before they are sent',
      retryAfterSeconds: Math.ceil(this.#used.msUntil(this.#msPerMinute - 1, now) / 1_000),
    });
  }

  spend(ms: number, now: number): void {
    this.#used.add(ms, now);
  }
}
