export interface TokenBucketOptions {
  /** Tokens that come back per second. */
  readonly ratePerSecond: number;
  /** Tokens of a client that has waited long enough. */
  readonly burst: number;
  /** Clients remembered at most; over it those are forgotten that asked longest ago. */
  readonly clientsMax: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * A token bucket per client, in bounded memory. A client that was forgotten begins with a full bucket.
 *
 * Our own, because what `@fastify/rate-limit` has is not what is promised: it counts in fixed windows, so that a client may send
 * twice the rate across the border of two windows and is then refused for a whole one, where a bucket gives one token back every
 * 1/rate seconds and says exactly when; it takes whole requests per window, no rate such as 0.5; it goes by the wall clock; and its
 * hooks stand at routes, so paths that do not exist are not counted, nor can a route be limited for wrong keys alone.
 */
export class TokenBuckets {
  readonly #options: TokenBucketOptions;
  /** In the order of last use, oldest first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: TokenBucketOptions) {
    this.#options = options;
  }

  /** Takes a token: 0 when there was one, else the seconds until there is one. */
  take(client: string): number {
    const bucket = this.#filled(client);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return (1 - bucket.tokens) / this.#options.ratePerSecond;
  }

  get size(): number {
    return this.#buckets.size;
  }

  #filled(client: string): Bucket {
    const { ratePerSecond, burst, clientsMax } = this.#options;
    const nowMs = this.#options.now();
    const bucket = this.#buckets.get(client) ?? { tokens: burst, filledAtMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.filledAtMs) / 1000) * ratePerSecond);
    bucket.filledAtMs = nowMs;
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    if (this.#buckets.size > clientsMax) this.#forgetOldest();
    return bucket;
  }

  #forgetOldest(): void {
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}
