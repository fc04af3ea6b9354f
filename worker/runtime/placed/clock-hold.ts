/** So many checkpoints may find that more has been made than they have. */
const OUTRUN_CHECKPOINTS = 3;

/**
 * What the clock has made waits until a checkpoint has it. Nobody keeps ticks for a placed pipeline: whoever went on from an earlier
 * checkpoint would hear the clock at another moment, between other events, and could say something else about the same time.
 */
export class ClockHold {
  #from: number | undefined;
  #upTo: number | undefined;
  /** Checkpoints since then that have some of it, and not all. */
  #behind = 0;

  get isHeld(): boolean {
    return this.#upTo !== undefined;
  }

  /** More is made than checkpoints can catch up with: without a pause of the input nothing would ever be said. */
  get isOutrun(): boolean {
    return this.#behind >= OUTRUN_CHECKPOINTS;
  }

  /** The tick of this number has made something. */
  spoke(sequence: number): void {
    this.#from ??= sequence;
    this.#upTo = sequence;
  }

  /** A checkpoint counts that has all inputs up to this one. Says whether it was waited for. */
  committed(sequence: number): boolean {
    if (this.#from === undefined || this.#upTo === undefined || sequence < this.#from) return false;
    if (sequence < this.#upTo) {
      this.#behind++;
      return false;
    }
    this.#from = undefined;
    this.#upTo = undefined;
    this.#behind = 0;
    return true;
  }
}
