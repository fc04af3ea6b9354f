import { type CalibratedRound, calibrate } from './calibrator.ts';

/** Something measured in every round, in turn with all others. */
export interface Measured {
  readonly name: string;
  measure(): Promise<void>;
}

/** Measures everything once per round. `say` is told what is at work. */
export async function measureInRounds(all: readonly Measured[], rounds: number, say: (text: string) => void): Promise<CalibratedRound[]> {
  const calibrations: CalibratedRound[] = [];
  for (let round = 1; round <= rounds; round++) {
    const before = calibrate();
    for (const one of all) {
      say(`round ${round} of ${rounds}: ${one.name}`);
      await one.measure();
    }
    calibrations.push({ before, after: calibrate() });
  }
  return calibrations;
}
