import type { Clock } from './clock.ts';

/** A clock that feeds a stream, and by how much (ms) the stream's watermark stays behind it. */
export interface Reading {
  readonly clock: Clock;
  readonly lagMs: number;
}

/** A stream's watermark: the lowest of the clocks that feed it. */
export class StreamClock {
  readonly readings: readonly Reading[];
  /** The clock that this stream's own rows move, where it takes the time from a field of what another stream made. */
  readonly own: Clock | null;

  constructor(readings: readonly Reading[], own: Clock | null) {
    this.readings = readings;
    this.own = own;
  }

  now(): number {
    let lowest = Infinity;
    for (const { clock, lagMs } of this.readings) lowest = Math.min(lowest, clock.now() - lagMs);
    return lowest;
  }

  /** What it was before the step of time with this number. */
  before(step: number): number {
    let lowest = Infinity;
    for (const { clock, lagMs } of this.readings) lowest = Math.min(lowest, clock.before(step) - lagMs);
    return lowest;
  }

  /** Wakes the program when the watermark can have reached `deadline`: one clock that has not got there is enough to watch. */
  schedule(deadline: number): void {
    if (deadline === Infinity) return;
    const [first] = this.readings;
    const behind = this.readings.find(({ clock, lagMs }) => clock.now() - lagMs < deadline);
    if (behind !== undefined) behind.clock.schedule(deadline + behind.lagMs);
    else first?.clock.schedule(-Infinity);
  }
}
