import { type CalibratedRound, noisyRounds } from '../calibrator.ts';

/** A run that took so much longer than its own processor time waited for others. */
const WAITED = 1.2;

/** What one round of a measurement says about the machine. */
export interface Circumstances extends CalibratedRound {
  /** Elapsed and processor time of what was measured, milliseconds. */
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

/** In how many of these rounds the machine was busy with something else. `all`: the calibrations of the whole run. */
export function noisyCount(rounds: readonly Circumstances[], all: readonly CalibratedRound[]): number {
  const slow = noisyRounds(rounds, all);
  return rounds.filter(({ elapsedMs, cpuMs }, round) => slow[round] || elapsedMs > cpuMs * WAITED).length;
}
