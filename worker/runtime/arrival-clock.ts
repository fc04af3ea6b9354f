/** The clocks of the machine. */
export interface MachineClock {
  /** Epoch ms; whoever sets the machine's clock moves it, forward or back. */
  wallMs(): number;
  /** Milliseconds since some moment; nobody moves it. */
  elapsedMs(): number;
}

const machineClock: MachineClock = { wallMs: () => Date.now(), elapsedMs: () => performance.now() };

/** How fast time goes while it is ahead of the wall clock, which so comes up to it: distances stay right to a tenth. */
const RATE_WHILE_AHEAD = 0.9;

/**
 * The time at which events arrive and ticks are given: the wall clock's, but it never goes back. Where the wall clock was set back it
 * goes on from where it stood, a little slower, until the wall clock is there; so nothing that comes without a time of its own is late,
 * and silence is still noticed. Each pipeline has one of its own upon that of the server: its state may come from a server whose clock was
 * ahead, which is nobody else's time.
 */
export class ArrivalClock {
  readonly #machine: MachineClock;
  /** Epoch ms, with fractions. */
  #time = Number.NEGATIVE_INFINITY;
  #elapsedMs: number;

  constructor(machine: MachineClock = machineClock) {
    this.#machine = machine;
    this.#elapsedMs = machine.elapsedMs();
  }

  /** Epoch ms, whole. */
  now(): number {
    const elapsedMs = this.#machine.elapsedMs();
    const gone = this.#time + (elapsedMs - this.#elapsedMs) * RATE_WHILE_AHEAD;
    this.#time = Math.max(this.#machine.wallMs(), gone);
    this.#elapsedMs = elapsedMs;
    return Math.floor(this.#time);
  }

  /** The wall clock is behind it, so that it goes by itself. */
  get isAhead(): boolean {
    return this.now() > this.#machine.wallMs();
  }

  /** For how long something is kept: ms since some moment in this process, which no setting of a clock moves. */
  elapsedMs(): number {
    return this.#machine.elapsedMs();
  }

  /** Something arrived at this time, in a process before or on another server: it does not go back behind that. */
  notBefore(time: number): void {
    this.#time = Math.max(this.now(), time);
  }
}
