/** So many checkpoints may find that more has been said than they have. */
const OUTRUN_CHECKPOINTS = 3;

/**
 * What would not come out the same again waits until a checkpoint has it. Whoever goes on from an earlier one would hear the clock at another
 * moment, between other events; what a source gives again without a time arrives at another one, and what is looked up again may be another
 * answer. It could say something else about the same thing, and whoever receives both could not tell.
 */
export class ReplayHold {
  /** The last input that would not come again as it came, while no checkpoint has it: what is said behind it may depend on it. */
  #unlike: number | undefined;
  #from: number | undefined;
  #upTo: number | undefined;
  /** Checkpoints since then that have some of it, and not all. */
  #behind = 0;

  get isHeld(): boolean {
    return this.#upTo !== undefined;
  }

  /** More is said than checkpoints can catch up with: without a pause of the input nothing would ever leave. */
  get isOutrun(): boolean {
    return this.#behind >= OUTRUN_CHECKPOINTS;
  }

  /** The input of this number would not come again as it came. */
  unlike(sequence: number): void {
    this.#unlike = sequence;
  }

  /** Something is about to be said. */
  speaks(): void {
    if (this.#unlike === undefined) return;
    this.#from ??= this.#unlike;
    this.#upTo = this.#unlike;
  }

  /** A checkpoint counts that has all inputs up to this one. Says whether it was waited for. */
  committed(sequence: number): boolean {
    if (this.#unlike !== undefined && sequence >= this.#unlike) this.#unlike = undefined;
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
