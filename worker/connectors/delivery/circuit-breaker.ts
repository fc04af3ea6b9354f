export type BreakerState = 'closed' | 'half_open' | 'open';

export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly failureThreshold: number;
  /** How long it stays open, ms. */
  readonly resetTimeoutMs: number;
  /** Any clock that only moves on, ms. */
  readonly now: () => number;
  readonly onChange: (state: BreakerState) => void;
}

/** What may be done with a message now: sent, sent as the one probe, or not sent. */
export type Permission = 'send' | 'probe' | 'reject';

/**
 * Keeps messages from a sink that does not take any. Closed: everything is sent; failures in a row up to the threshold open it. Open: nothing
 * is sent until the reset time is over, or somebody wants it tried. Then half-open: one message is sent as a probe, and how that ends decides.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #failures = 0;
  #openedAt = 0;
  #isProbing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Asked for each message, which is then sent or not as the answer says. */
  ask(): Permission {
    if (this.#state === 'closed') return 'send';
    const isOver = this.#state === 'half_open' || this.#options.now() - this.#openedAt >= this.#options.resetTimeoutMs;
    if (!isOver || this.#isProbing) return 'reject';
    return this.#probe();
  }

  /** For a message that somebody wants sent now, although it is open: then that is the probe. */
  askNow(): Exclude<Permission, 'reject'> {
    return this.#state === 'closed' ? 'send' : this.#probe();
  }

  #probe(): 'probe' {
    this.#isProbing = true;
    this.#become('half_open');
    return 'probe';
  }

  succeeded(): void {
    this.#failures = 0;
    this.#isProbing = false;
    this.#become('closed');
  }

  failed(): void {
    this.#failures++;
    if (this.#state === 'closed' && this.#failures < this.#options.failureThreshold) return;
    this.#openedAt = this.#options.now();
    this.#isProbing = false;
    this.#become('open');
  }

  /** The probe said nothing of the sink: the next message is one. */
  undecided(): void {
    this.#isProbing = false;
  }

  #become(state: BreakerState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.onChange(state);
  }
}
