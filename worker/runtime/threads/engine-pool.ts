import { CepError } from '../../../shared/errors/error.ts';
import type { RuntimeReport } from '../service.ts';
import { EngineThread } from './engine-thread.ts';
import type { CheckReply } from './messages.ts';

/** How often the watchdog looks, ms. */
const LOOK_MS = 100;
/** Checking, loading, saving may take longer than an event: so many times, and at least so long. */
const OTHER_WORK_FACTOR = 2;
const OTHER_WORK_MS_MIN = 2_000;
/** When a thread that did not come to life is started again, ms. */
const START_AGAIN_MS = 1_000;

export interface EnginePoolOptions {
  readonly threads: number;
  /** How long a thread may be busy with one event. */
  readonly eventBudgetMs: number;
  readonly heapMb: number;
  readonly report: (report: RuntimeReport) => void;
}

interface Watched {
  thread: EngineThread;
  /** The piece of work seen last, and for how long it has been seen, ms. */
  progress: number;
  busyMs: number;
  restarts: number;
}

/**
 * The engine threads. A watchdog looks at what each is busy with; one that works on a single event for longer than the budget is
 * replaced, and the pipelines on it are told. A pipeline that has done so before gets a thread on which only its like are.
 */
export class EnginePool {
  readonly #options: EnginePoolOptions;
  readonly #shared: Watched[];
  /** Where suspects run; made when there is one. */
  #isolated: Watched | undefined;
  #checker: Watched | undefined;
  readonly #watchdog: NodeJS.Timeout;
  #lookedAt = performance.now();
  #isClosed = false;

  constructor(options: EnginePoolOptions) {
    this.#options = options;
    this.#shared = Array.from({ length: options.threads }, (_, index) => this.#start(`engine-${index}`));
    this.#watchdog = setInterval(() => this.#look(), LOOK_MS);
    this.#watchdog.unref();
  }

  /** The thread for one more pipeline. */
  place({ isSuspect }: { readonly isSuspect: boolean }): EngineThread {
    if (isSuspect) {
      this.#isolated ??= this.#start('engine-isolated');
      return this.#isolated.thread;
    }
    return this.#shared.reduce((best, one) => (one.thread.pipelines < best.thread.pipelines ? one : best)).thread;
  }

  /** Checks a program on a thread of its own. @throws CepError `validation_error` when it takes too long */
  async check(source: string, workDir: string): Promise<CheckReply> {
    this.#checker ??= this.#start('checker');
    const { thread } = this.#checker;
    try {
      return await thread.call<CheckReply>({ kind: 'check', source, workDir });
    } catch (error) {
      if (thread.isEnded && !this.#isClosed)
        throw new CepError('validation_error', 'the program takes too long to check and to start', {
          hint: 'look at what `let` and `var` compute',
          details: [],
          cause: error,
        });
      throw error;
    }
  }

  get threads(): readonly { readonly name: string; readonly pipelines: number; readonly queueBytes: number; readonly restarts: number }[] {
    return this.#all().map(({ thread: { name, pipelines, queueBytes }, restarts }) => ({ name, pipelines, queueBytes, restarts }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watchdog);
    await Promise.all(this.#all().map(({ thread }) => thread.close()));
  }

  #all(): Watched[] {
    return [...this.#shared, ...[this.#isolated, this.#checker].filter((one) => one !== undefined)];
  }

  #start(name: string): Watched {
    const watched: Watched = { thread: this.#thread(name), progress: 0, busyMs: 0, restarts: 0 };
    this.#replaceWhenEnded(watched);
    return watched;
  }

  #thread(name: string): EngineThread {
    return new EngineThread(name, this.#options.heapMb);
  }

  #replaceWhenEnded(watched: Watched): void {
    const { name } = watched.thread;
    watched.thread.onEnd = () => {
      if (this.#isClosed) return;
      watched.restarts++;
      watched.busyMs = 0;
      const replace = (): void => this.#replace(watched);
      // One that never came to life would not the next time either: not at once, at least.
      if (watched.thread.isReady) replace();
      else setTimeout(replace, START_AGAIN_MS).unref();
      this.#options.report({ level: 'error', message: 'Engine thread replaced', fields: { thread: name, restarts: watched.restarts } });
    };
  }

  #replace(watched: Watched): void {
    if (this.#isClosed) return;
    watched.thread = this.#thread(watched.thread.name);
    this.#replaceWhenEnded(watched);
  }

  #look(): void {
    const now = performance.now();
    // Time in which this thread itself could not run says nothing about the others.
    const elapsed = Math.min(now - this.#lookedAt, 2 * LOOK_MS);
    this.#lookedAt = now;
    for (const watched of this.#all()) this.#lookAt(watched, elapsed);
  }

  #lookAt(watched: Watched, elapsed: number): void {
    const beat = watched.thread.beat;
    if (beat === undefined || beat.progress !== watched.progress) {
      watched.busyMs = 0;
      watched.progress = beat?.progress ?? 0;
      return;
    }
    watched.busyMs += elapsed;
    const { eventBudgetMs } = this.#options;
    const limit = beat.record !== 0 ? eventBudgetMs : Math.max(OTHER_WORK_FACTOR * eventBudgetMs, OTHER_WORK_MS_MIN);
    if (watched.busyMs < limit) return;
    watched.thread.kill(`${beat.record === 0 ? 'the program' : 'one event'} kept the thread busy for ${Math.round(watched.busyMs)} ms`);
  }
}
