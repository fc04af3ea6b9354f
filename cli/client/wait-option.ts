import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'clipanion';
import { intervalProblem, readInterval } from '../../shared/config/interval.ts';
import type { ErrorCode } from '../../shared/errors/codes.ts';
import { CepError } from '../../shared/errors/error.ts';

const PAUSE_MS = 500;

/** The option of a command that asks how things are. */
export const waitOption = () =>
  Option.String('--wait', { description: 'Ask again until all is well, for so long at most: seconds or a duration' });

/** Milliseconds of the option; 0 without it. @throws CepError `usage_error` */
export function readWait(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = readInterval(text);
  if (ms === undefined) throw new CepError('usage_error', intervalProblem('--wait', text));
  return ms;
}

/** Asks again and again while the answer is not good, or none comes, until the time is over: then the last answer, or error, counts. */
export async function askUntil<T>(waitMs: number, ask: () => Promise<T>, isGood: (answer: T) => boolean): Promise<T> {
  const end = performance.now() + waitMs;
  for (;;) {
    const isLast = performance.now() + PAUSE_MS > end;
    try {
      const answer = await ask();
      if (isLast || isGood(answer)) return answer;
    } catch (error) {
      if (isLast || !isPassing(error)) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

/** A wrong key stays wrong, and so does what is asked of another service. */
const lasting: readonly ErrorCode[] = ['missing_api_key', 'invalid_api_key', 'forbidden', 'not_found', 'config_error', 'usage_error'];

function isPassing(error: unknown): boolean {
  return error instanceof CepError && !lasting.includes(error.code);
}
