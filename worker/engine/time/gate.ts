/**
 * Where a stream holds rows back until something outside has answered: what stands behind it, in this stream and in those
 * that follow, sees no time beyond that at which the first waiting row came. So an answer that takes long makes no row late.
 */
export class Gate {
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

/** The lowest of several gates; Infinity when all are open. `step` null = now, else before that step of time. */
export function lowestGate(gates: readonly Gate[], step: number | null): number {
  let lowest = Infinity;
  for (const gate of gates) lowest = Math.min(lowest, step === null ? gate.now() : gate.before(step));
  return lowest;
}
