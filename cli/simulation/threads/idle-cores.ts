import { cpus } from 'node:os';

/** Times of cores go on in steps of 10 ms, so a shorter part says little, ms. */
const PART_MS = 150;

export interface CoreTimes {
  readonly idle: number;
  /** All together, idle ones included. */
  readonly all: number;
}

/** How many cores have had nothing to do lately. */
export class IdleCores {
  readonly #cores: () => readonly CoreTimes[];
  #before: readonly CoreTimes[];
  #beforeAt: number | undefined;
  #idle = 0;

  /** `cores`: the times of each core, ms or any other unit. @default those of this machine */
  constructor(cores: () => readonly CoreTimes[] = timesOfCores) {
    this.#cores = cores;
    this.#before = cores();
  }

  /** In the last part of some tenths of a second that is over; 0 before that. `now`: ms of any clock that only moves on. */
  count(now: number): number {
    this.#beforeAt ??= now;
    if (now - this.#beforeAt < PART_MS) return this.#idle;
    const times = this.#cores();
    this.#idle = times.reduce((sum, core, at) => sum + idleShare(core, this.#before[at]), 0);
    this.#before = times;
    this.#beforeAt = now;
    return this.#idle;
  }
}

function timesOfCores(): readonly CoreTimes[] {
  return cpus().map(({ times: { user, nice, sys, irq, idle } }) => ({ idle, all: user + nice + sys + irq + idle }));
}

function idleShare({ idle, all }: CoreTimes, before: CoreTimes | undefined): number {
  return before !== undefined && all > before.all ? (idle - before.idle) / (all - before.all) : 0;
}
