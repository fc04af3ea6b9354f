/**
 * Keeps the watermark of everything behind an operator, in its stream and in those that follow, at the time at which the first
 * row came that still waits for an answer from outside. So an answer that takes long makes no row late.
 */
export class WatermarkHold {
  #time = Infinity;
  #before = Infinity;
  #movedIn = -1;

  /** Time that may pass, ms; Infinity when nothing waits. */
  now(): number {
    return this.#time;
  }

  /** What it was before the step of time with this number. */
  before(step: number): number {
    return this.#movedIn === step ? this.#before : this.#time;
  }

  move(time: number, step: number): void {
    if (this.#movedIn !== step) {
      this.#before = this.#time;
      this.#movedIn = step;
    }
    this.#time = time;
  }
}

/** The lowest of several holds; Infinity when none is in force. `step` null = now, else before that step of time. */
export function lowestHold(holds: readonly WatermarkHold[], step: number | null): number {
  let lowest = Infinity;
  for (const hold of holds) lowest = Math.min(lowest, step === null ? hold.now() : hold.before(step));
  return lowest;
}
