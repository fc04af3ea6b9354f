export interface BackoffTimes {
  /** After the first failure; twice as long after each further one. */
  readonly firstMs: number;
  readonly mostMs: number;
}

interface Failure {
  readonly count: number;
  readonly dueMs: number;
}

/** When something that has failed may be tried again. */
export class Backoff {
  readonly #now: () => number;
  readonly #failures = new Map<string, Failure>();

  /** @param now Monotonic, ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  isDue(what: string): boolean {
    const failure = this.#failures.get(what);
    return failure === undefined || failure.dueMs <= this.#now();
  }

  failed(what: string, { firstMs, mostMs }: BackoffTimes): void {
    const count = (this.#failures.get(what)?.count ?? 0) + 1;
    this.#failures.set(what, { count, dueMs: this.#now() + Math.min(mostMs, firstMs * 2 ** (count - 1)) });
  }

  succeeded(what: string): void {
    this.#failures.delete(what);
  }

  clear(): void {
    this.#failures.clear();
  }
}
