/** What a shell says of a process that Ctrl+C ended. */
export const INTERRUPTED_EXIT_CODE = 130;

/** Work that Ctrl+C, or a request to terminate, asks to come to an end; asked twice, the process ends at once. */
export async function runUntilInterrupted(work: (interrupt: AbortSignal) => Promise<number>): Promise<number> {
  const interrupt = new AbortController();
  const stop = (): void => {
    ignore();
    interrupt.abort();
  };
  // Without a handler the system itself ends the process, however busy that is.
  const ignore = (): void => void process.off('SIGINT', stop).off('SIGTERM', stop);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    return await work(interrupt.signal);
  } finally {
    ignore();
  }
}
