/** Elapsed and processor time since it was made. */
export class Stopwatch {
  readonly #startedMs = performance.now();
  readonly #cpuBeforeMs = cpuTime();

  get elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  /** Of all threads of the process. */
  get cpuMs(): number {
    return cpuTime() - this.#cpuBeforeMs;
  }
}

function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
