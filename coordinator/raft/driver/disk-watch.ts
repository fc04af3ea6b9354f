/** How long a disk may be behind the others' before that counts, and before once is enough. In shortest election timeouts, and at least. */
const behind = { share: 0.2, msMin: 200 };
const stuck = { share: 1, msMin: 1_000 };
/** Writes in a row. */
const behindMax = 3;
/** From one handing over to the next: the disk of the next leader may be no better. */
const restMs = 60_000;

/**
 * Watches whether the disk of a leader is slower than those of the others. What a majority has is committed without it, but what comes
 * while it writes waits for that: another should lead. It counts for how long entries were committed and not yet durable here, so that
 * disks that are all slow, or share one that is, are no reason.
 */
export class DiskWatch {
  readonly #behindMs: number;
  readonly #stuckMs: number;
  /** Since when entries are committed that are not durable here. */
  #since: number | undefined;
  #slowWrites = 0;
  #restsUntil = 0;

  constructor(electionMs: number) {
    this.#behindMs = Math.max(behind.msMin, behind.share * electionMs);
    this.#stuckMs = Math.max(stuck.msMin, stuck.share * electionMs);
  }

  /** To be called whenever something has happened. Gives by how much the disk is behind when another should lead. */
  observe(isBehind: boolean, nowMs: number): number | undefined {
    const lagMs = this.#since === undefined ? 0 : nowMs - this.#since;
    if (isBehind) this.#since ??= nowMs;
    else this.#settle(lagMs);
    const isSlow = this.#slowWrites >= behindMax || (isBehind && lagMs >= this.#stuckMs);
    if (!isSlow || nowMs < this.#restsUntil) return undefined;
    this.#restsUntil = nowMs + restMs;
    this.reset();
    return lagMs;
  }

  #settle(lagMs: number): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    this.#slowWrites = lagMs >= this.#behindMs ? this.#slowWrites + 1 : 0;
  }

  /** The process itself stood still: that is not the disk's time. */
  stalled(nowMs: number): void {
    if (this.#since !== undefined) this.#since = nowMs;
  }

  /** This node does not lead, or not any more. */
  reset(): void {
    this.#since = undefined;
    this.#slowWrites = 0;
  }
}
