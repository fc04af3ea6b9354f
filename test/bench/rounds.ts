import { type CalibratedRound, calibrate } from './calibrator.ts';

/** Something measured in every round, in turn with all others. */
export interface Measured {
  readonly name: string;
  measure(): Promise<void>;
}

/** What could not be measured: a process failed, or its outputs were wrong. */
export interface Failure {
  readonly name: string;
  readonly message: string;
}

export interface Rounds {
  readonly calibrations: readonly CalibratedRound[];
  readonly failures: readonly Failure[];
}

/** Measures everything once per round; what fails is left out from then on. `say` is told what is at work. */
export async function measureInRounds(all: readonly Measured[], rounds: number, say: (text: string) => void): Promise<Rounds> {
  const calibrations: CalibratedRound[] = [];
  const failures = new Map<Measured, string>();
  for (let round = 1; round <= rounds; round++) {
    const before = calibrate();
    for (const one of all) {
      if (failures.has(one)) continue;
      say(`round ${round} of ${rounds}: ${one.name}`);
      await one.measure().catch((error: unknown) => failures.set(one, messageOf(error)));
    }
    calibrations.push({ before, after: calibrate() });
  }
  return { calibrations, failures: [...failures].map(([{ name }, message]) => ({ name, message })) };
}

/** Those of which there are figures. */
export function succeeded<T extends Measured>(all: readonly T[], failures: readonly Failure[]): T[] {
  return all.filter(({ name }) => !failures.some((failure) => failure.name === name));
}

/** Runs everything once, several at a time: for what times do not matter in. */
export async function runSideBySide(all: readonly Measured[], lanes: number, say: (text: string) => void): Promise<Failure[]> {
  const left = [...all];
  const failures: Failure[] = [];
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const { name } = one;
      say(name);
      await one.measure().catch((error: unknown) => failures.push({ name, message: messageOf(error) }));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return failures;
}

/** What went wrong, without where in the code: of a process the first line, and the error that it ended with. */
function messageOf(error: unknown): string {
  const [first = '', ...others] = (error instanceof Error ? error.message : String(error)).split('\n');
  const ending = others.find((line) => /^\w*(Error|Outputs)\b.*:/.test(line));
  return ending === undefined ? first : `${first}: ${ending}`;
}
