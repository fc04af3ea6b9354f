import { ProcessMap, type WorkerProcess } from './process-map.ts';

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
 * answered is a lease. Who begins to lead does not know what the leader before has granted, so every process has a full time from then on;
 * so has one that comes later, until its first heartbeat.
 */
export class WorkerLeases {
  readonly leaseMs: number;
  readonly #options: WorkerLeasesOptions;
  readonly #heardMs = new ProcessMap<number>();
  readonly #dead = new ProcessMap<true>();
  /** Lost under a leader before, and not heard of since. */
  readonly #lostBefore = new ProcessMap<true>();
  #beganMs: number;

  constructor(options: WorkerLeasesOptions) {
    this.#options = options;
    this.leaseMs = Math.floor(options.timeoutMs * LEASE_SHARE);
    this.#beganMs = options.now();
  }

  /** This member begins to lead. `lost`: of whom the leader before had lost sight, which says nothing about the others now. */
  begin(lost: Iterable<WorkerProcess> = []): void {
    this.#heardMs.clear();
    this.#dead.clear();
    this.#lostBefore.clear();
    for (const process of lost) this.#lostBefore.set(process, true);
    this.#beganMs = this.#options.now();
  }

  /** Those that are there now: a process that was not there before has its time from now on. */
  meet(processes: Iterable<WorkerProcess>): void {
    for (const process of processes) if (this.#heardMs.get(process) === undefined) this.#heardMs.set(process, this.#options.now());
  }

  /** A heartbeat is answered that came in at a time. */
  heard(process: WorkerProcess, atMs: number): void {
    this.#dead.delete(process);
    this.#lostBefore.delete(process);
    this.#heardMs.set(process, Math.max(atMs, this.#heardMs.get(process) ?? atMs));
  }

  /** It is proven that nothing of the process runs any more. */
  died(process: WorkerProcess): void {
    this.#dead.set(process, true);
  }

  isProvenDead(process: WorkerProcess): boolean {
    return this.#dead.get(process) !== undefined;
  }

  /** Whatever the process was granted has ended: it runs nothing, or has stopped by itself. */
  isOver(process: WorkerProcess): boolean {
    return this.isProvenDead(process) || this.silentMs(process) > this.#options.timeoutMs;
  }

  /** It was heard of in its time, or has its time yet. What the one before may have granted a process that was lost then is not over all the same. */
  isPresent(process: WorkerProcess): boolean {
    return this.#lostBefore.get(process) === undefined && !this.isOver(process);
  }

  /** Since it was last heard of, or came, and not longer than this member leads. */
  silentMs(process: WorkerProcess): number {
    return this.#options.now() - (this.#heardMs.get(process) ?? this.#beganMs);
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
    let justSilent = 0;
    let present = 0;
    for (const one of all) {
      const silentMs = this.silentMs(one);
      // Gone for longer: it says nothing about the others.
      if (silentMs > 2 * timeoutMs || this.#lostBefore.get(one) !== undefined) continue;
      present++;
      if (silentMs > timeoutMs && !this.isProvenDead(one)) justSilent++;
    }
    return justSilent > present / 2;
  }

  /** Of how many processes something is remembered. */
  get remembered(): number {
    return Math.max(this.#heardMs.size, this.#dead.size, this.#lostBefore.size);
  }

  /** Processes that are gone for good are not remembered. */
  forgetOthers(known: readonly WorkerProcess[]): void {
    this.#heardMs.keep(known);
    this.#dead.keep(known);
    this.#lostBefore.keep(known);
  }
}
