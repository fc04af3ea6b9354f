import { setTimeout as sleep } from 'node:timers/promises';

/** Rejects when there is no answer so long after the signal said that nobody waits for it. What becomes of it then is not heard of any more. */
export function untilLeft<T>(answer: Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const leave = (): void => {
      timer = setTimeout(() => reject(new Error('no answer in time')), ms);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    void answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    });
  });
}

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
