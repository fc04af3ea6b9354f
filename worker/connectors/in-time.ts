import { setTimeout as sleep } from 'node:timers/promises';

/** Rejects when the answer takes longer than that. What becomes of it then is not heard of any more. */
export async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  const end = new AbortController();
  const late = sleep(ms, undefined, { signal: end.signal }).then(() => {
    throw new Error(`no answer within ${ms / 1000} s`);
  });
  late.catch(() => undefined); // The answer came first.
  try {
    return await Promise.race([answer, late]);
  } finally {
    end.abort();
  }
}
