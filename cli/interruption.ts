/** What a shell says of a process that Ctrl+C ended. */
export const INTERRUPTED_EXIT_CODE = 130;

/** Work that Ctrl+C, or a request to terminate, asks to come to an end; asked twice, the process ends at once. */
export async function runUntilInterrupted(work: (interrupt: AbortSignal) => Promise<number>): Promise<number> {
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(interrupt.signal);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
