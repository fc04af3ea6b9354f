import type { Clock } from '../options.ts';

/** What a measured process prints of its runs in the same process; the first is cold. */
export interface RunFigures {
  readonly timesMs: readonly number[];
  /** Processor time of the same runs, collector of garbage included. */
  readonly cpuMs: readonly number[];
  /** Of the last run. */
  readonly outputs: number;
  readonly sum: number;
}

/** The time of the last run by one of the two clocks, milliseconds. */
export function lastTime({ timesMs, cpuMs }: RunFigures, clock: Clock): number {
  return (clock === 'cpu' ? cpuMs : timesMs).at(-1) as number;
}

/** Processor time of this process so far, milliseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
