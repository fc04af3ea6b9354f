/** A figure further off than this share makes a round noisy. */
const NOISE = 0.2;
const PASSES = 40;
const VALUES = 1 << 18;

/** A fixed piece of work: how long it takes says how fast the machine is at the moment. Returns milliseconds. */
export function calibrate(): number {
  const values = new Int32Array(VALUES);
  const started = performance.now();
  let state = 1;
  for (let pass = 0; pass < PASSES; pass++) {
    for (let at = 0; at < VALUES; at++) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      values[at] = ((values[at] as number) + state) ^ (state >>> 7);
    }
  }
  return performance.now() - started;
}

/** A round of measurements between two calibrations, milliseconds. */
export interface CalibratedRound {
  readonly before: number;
  readonly after: number;
}

/** Which rounds ran while the machine was busy: a calibration took over a fifth longer than the fastest of the run, which had `all`. */
export function noisyRounds(rounds: readonly CalibratedRound[], all = rounds): boolean[] {
  const fastest = Math.min(...all.flatMap(({ before, after }) => [before, after]));
  return rounds.map(({ before, after }) => Math.max(before, after) > fastest * (1 + NOISE));
}
