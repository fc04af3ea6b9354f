import type { Clock } from '../options.ts';

/** What a measured process prints of its runs; the first is cold, the others find warm code. Times are milliseconds. */
export interface RunFigures {
  /** From the opening of the event file to the last output. */
  readonly timesMs: readonly number[];
  /** Processor time of the same runs, collector of garbage and compiler included. */
  readonly cpuMs: readonly number[];
  /** What came before the first of them: reading, checking and compiling the program. */
  readonly loadMs: number;
  readonly loadCpuMs: number;
  /** Of the last run. */
  readonly events: number;
  readonly outputs: number;
  readonly sum: number;
}

/** Of the first run, in a fresh process. */
export function coldTime({ timesMs, cpuMs }: RunFigures, clock: Clock): number {
  return (clock === 'cpu' ? cpuMs : timesMs)[0] as number;
}

/** Of the last run. */
export function lastTime({ timesMs, cpuMs }: RunFigures, clock: Clock): number {
  return (clock === 'cpu' ? cpuMs : timesMs).at(-1) as number;
}

export function loadTime({ loadMs, loadCpuMs }: RunFigures, clock: Clock): number {
  return clock === 'cpu' ? loadCpuMs : loadMs;
}
