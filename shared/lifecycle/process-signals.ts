/** The signals by which a process is asked to end. */
const endSignals = ['SIGTERM', 'SIGINT'] as const;
export type EndSignal = (typeof endSignals)[number];

/** Where signals come from: the process, or a stand-in. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
}

/** Watches the signals of a long-running command, from the time it is made until `close`. */
export class ProcessSignals {
  readonly #source: SignalSource;
  readonly #onReload: () => void;
  /** Resolves with the first signal that asks the process to end. */
  readonly ended: Promise<EndSignal>;
  /** Resolves with the second. */
  readonly endedAgain: Promise<EndSignal>;
  readonly #onEnd: (signal: NodeJS.Signals) => void;

  /** @param onReload Called for each SIGHUP. */
  constructor(source: SignalSource, onReload: () => void) {
    this.#source = source;
    this.#onReload = onReload;
    const waiting: ((signal: EndSignal) => void)[] = [];
    const next = (): Promise<EndSignal> => new Promise((resolve) => waiting.push(resolve));
    this.ended = next();
    this.endedAgain = next();
    this.#onEnd = (signal) => waiting.shift()?.(signal as EndSignal);
    for (const signal of endSignals) source.on(signal, this.#onEnd);
    source.on('SIGHUP', this.#onReload);
  }

  close(): void {
    for (const signal of endSignals) this.#source.off(signal, this.#onEnd);
    this.#source.off('SIGHUP', this.#onReload);
  }
}

/** Waits for a task, but not longer than the deadline: `undefined` when it took longer. */
export async function withDeadline<T>(task: Promise<T>, deadlineMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), deadlineMs);
  });
  try {
    return await Promise.race([task, late]);
  } finally {
    clearTimeout(timer);
  }
}
