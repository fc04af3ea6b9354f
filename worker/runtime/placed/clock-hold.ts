/**
 * What the clock has made waits until a checkpoint has it. Nobody keeps ticks for a placed pipeline: whoever went on from an earlier
 * checkpoint would hear the clock at another moment, between other events, and could say something else about the same time.
 */
export class ClockHold {
  #upTo: number | undefined;

  get isHeld(): boolean {
    return this.#upTo !== undefined;
  }

  /** The tick of this number has made something. */
  spoke(sequence: number): void {
    this.#upTo = sequence;
  }

  /** A checkpoint counts that has all inputs up to this one. Says whether it was waited for. */
  committed(sequence: number): boolean {
    if (this.#upTo === undefined || sequence < this.#upTo) return false;
    this.#upTo = undefined;
    return true;
  }
}
