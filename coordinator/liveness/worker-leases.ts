/** A process of a worker. */
export interface WorkerProcess {
  readonly id: string;
  readonly incarnation: string;
}

export interface WorkerLeasesOptions {
  /** A worker that is silent for so long is lost. */
  readonly timeoutMs: number;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/** Of the time that a lease has on the leader's clock; the rest is for clocks that run differently, and for what stops slowly. */
const LEASE_SHARE = 0.9;

/**
 * Until when workers may run what they have, by the clock of the member that leads; nothing of it is in the log. A heartbeat that was
 * answered is a lease. Who begins to lead does not know what the leader before has granted, so every process has a full time from then on.
 */
export class WorkerLeases {
  readonly leaseMs: number;
  readonly #options: WorkerLeasesOptions;
  readonly #heardMs = new Map<string, number>();
  readonly #dead = new Set<string>();
  #beganMs: number;

  constructor(options: WorkerLeasesOptions) {
    this.#options = options;
    this.leaseMs = Math.floor(options.timeoutMs * LEASE_SHARE);
    this.#beganMs = options.now();
  }

  /** This member begins to lead. */
  begin(): void {
    this.#heardMs.clear();
    this.#dead.clear();
    this.#beganMs = this.#options.now();
  }

  /** A heartbeat is answered that came in at a time. */
  heard(process: WorkerProcess, atMs: number): void {
    const key = keyOf(process);
    this.#dead.delete(key);
    this.#heardMs.set(key, Math.max(atMs, this.#heardMs.get(key) ?? atMs));
  }

  /** It is proven that nothing of the process runs any more. */
  died(process: WorkerProcess): void {
    this.#dead.add(keyOf(process));
  }

  isProvenDead(process: WorkerProcess): boolean {
    return this.#dead.has(keyOf(process));
  }

  /** Whatever the process was granted has ended: it runs nothing, or has stopped by itself. */
  isOver(process: WorkerProcess): boolean {
    return this.isProvenDead(process) || this.silentMs(process) > this.#options.timeoutMs;
  }

  /** Since it was last heard of, and not longer than this member leads. */
  silentMs(process: WorkerProcess): number {
    return this.#options.now() - (this.#heardMs.get(keyOf(process)) ?? this.#beganMs);
  }

  /**
   * Whether what a worker had may be given to others. When more than half of all have gone silent at once, it is more likely that they
   * cannot be heard: it is waited for once more as long.
   */
  mayBeReplaced(process: WorkerProcess, all: readonly WorkerProcess[]): boolean {
    if (!this.isOver(process)) return false;
    const { timeoutMs } = this.#options;
    if (this.isProvenDead(process) || this.silentMs(process) > 2 * timeoutMs) return true;
    return !this.isMassLoss(all);
  }

  isMassLoss(all: readonly WorkerProcess[]): boolean {
    const { timeoutMs } = this.#options;
    const justSilent = all.filter((one) => {
      const silentMs = this.silentMs(one);
      return !this.isProvenDead(one) && silentMs > timeoutMs && silentMs <= 2 * timeoutMs;
    });
    return justSilent.length > all.length / 2;
  }

  /** Processes that are gone for good are not remembered. */
  forget(known: ReadonlySet<string>): void {
    for (const key of this.#heardMs.keys()) if (!known.has(key)) this.#heardMs.delete(key);
    for (const key of this.#dead) if (!known.has(key)) this.#dead.delete(key);
  }
}

export function keyOf({ id, incarnation }: WorkerProcess): string {
  return `${id}/${incarnation}`;
}
