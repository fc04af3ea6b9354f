import type { RuntimeReport } from '../service.ts';
import { CLUSTER_TENANT, SERVER_TENANT } from '../tenants/tenant-registry.ts';
import { EngineThread } from './engine-thread.ts';
import type { Beat } from './heartbeat.ts';

/** How often the watchdog looks, ms. */
const LOOK_MS = 100;
/** Loading, saving may take longer than an event: so many times, and at least so long. */
const OTHER_WORK_FACTOR = 2;
const OTHER_WORK_MS_MIN = 2_000;
/** And a large state longer than a small one. A machine that does nothing else loads and saves ten times as much in a ms. */
const STATE_BYTES_PER_MS = 500;
/** When a thread that did not come to life is started again, ms. */
const START_AGAIN_MS = 1_000;
/** Threads of tenants, besides those of the server's own. Beyond these tenants share the ones there are. */
const TENANT_THREADS_MAX = 32;
/** How long a thread without pipelines is kept for the next one of its tenant, ms. */
const UNUSED_MS = 60_000;

export interface EnginePoolOptions {
  /** Of the server's own tenant, at most. */
  readonly threads: number;
  /** How long a thread may be busy with one event. */
  readonly eventBudgetMs: number;
  readonly heapMb: number;
  readonly report: (report: RuntimeReport) => void;
}

interface Watched {
  thread: EngineThread;
  readonly name: string;
  /** The piece of work seen last, and for how long it has been seen, ms. */
  progress: number;
  busyMs: number;
  restarts: number;
  /** For how long no pipeline has been on it, ms. */
  unusedMs: number;
}

/**
 * The engine threads. The server's own tenant has one from the start, and more while each that there is has a pipeline; every other tenant
 * gets one of its own, so that what its programs do with time and memory is shared out by the system and not between pipelines. A
 * watchdog looks at what each is busy with; one that works on a single event for longer than the budget is replaced, and the pipelines
 * on it are told. A pipeline that has done so before gets a thread on which only its like are.
 */
export class EnginePool {
  readonly #options: EnginePoolOptions;
  readonly #shared: Watched[];
  /** By tenant; when there are many, several tenants have the same. */
  readonly #ofTenants = new Map<string, Watched>();
  /** Where suspects run; made when there is one. */
  #isolated: Watched | undefined;
  readonly #watchdog: NodeJS.Timeout;
  #lookedAt = performance.now();
  #isClosed = false;

  constructor(options: EnginePoolOptions) {
    this.#options = options;
    this.#shared = [this.#start('engine-0')];
    this.#watchdog = setInterval(() => this.#look(), LOOK_MS);
    this.#watchdog.unref();
  }

  /** The thread for one more pipeline of a tenant. */
  place({ tenantId, isSuspect }: { readonly tenantId: string; readonly isSuspect: boolean }): EngineThread {
    if (isSuspect) {
      this.#isolated ??= this.#start('engine-isolated');
      return this.#isolated.thread;
    }
    return (tenantId === SERVER_TENANT || tenantId === CLUSTER_TENANT ? this.#ofServer() : this.#ofTenant(tenantId)).thread;
  }

  #ofServer(): Watched {
    const least = leastUsed(this.#shared);
    if (least.thread.pipelines === 0 || this.#shared.length >= this.#options.threads) return least;
    const another = this.#start(`engine-${this.#shared.length}`);
    this.#shared.push(another);
    return another;
  }

  #ofTenant(tenantId: string): Watched {
    const known = this.#ofTenants.get(tenantId);
    if (known !== undefined) return known;
    const others = this.#tenantThreads();
    const watched = others.length < TENANT_THREADS_MAX ? this.#start(this.#freeName(others)) : leastUsed(others);
    this.#ofTenants.set(tenantId, watched);
    return watched;
  }

  #tenantThreads(): Watched[] {
    return [...new Set(this.#ofTenants.values())];
  }

  /** Names come again, so that metrics by thread stay few. */
  #freeName(others: readonly Watched[]): string {
    const names = new Set(others.map(({ name }) => name));
    let number = this.#options.threads;
    while (names.has(`engine-${number}`)) number++;
    return `engine-${number}`;
  }

  get threads(): readonly { readonly name: string; readonly pipelines: number; readonly queueBytes: number; readonly restarts: number }[] {
    return this.#all().map(({ name, thread: { pipelines, queueBytes }, restarts }) => ({ name, pipelines, queueBytes, restarts }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watchdog);
    await Promise.all(this.#all().map(({ thread }) => thread.close()));
  }

  #all(): Watched[] {
    return [...this.#shared, ...this.#tenantThreads(), ...(this.#isolated === undefined ? [] : [this.#isolated])];
  }

  #start(name: string): Watched {
    const watched: Watched = { thread: this.#thread(name), name, progress: 0, busyMs: 0, restarts: 0, unusedMs: 0 };
    this.#replaceWhenEnded(watched);
    return watched;
  }

  #thread(name: string): EngineThread {
    return new EngineThread(name, this.#options.heapMb);
  }

  #replaceWhenEnded(watched: Watched): void {
    const { name } = watched;
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
    watched.thread = this.#thread(watched.name);
    this.#replaceWhenEnded(watched);
  }

  #look(): void {
    const now = performance.now();
    // Time in which this thread itself could not run says nothing about the others.
    const elapsed = Math.min(now - this.#lookedAt, 2 * LOOK_MS);
    this.#lookedAt = now;
    for (const watched of this.#all()) this.#lookAt(watched, elapsed);
    for (const watched of this.#tenantThreads()) this.#closeUnused(watched, elapsed);
  }

  #closeUnused(watched: Watched, elapsed: number): void {
    watched.unusedMs = watched.thread.pipelines > 0 ? 0 : watched.unusedMs + elapsed;
    if (watched.unusedMs < UNUSED_MS) return;
    for (const [tenantId, one] of this.#ofTenants) if (one === watched) this.#ofTenants.delete(tenantId);
    void watched.thread.close();
  }

  #lookAt(watched: Watched, elapsed: number): void {
    const beat = watched.thread.beat;
    if (beat === undefined || beat.progress !== watched.progress) {
      watched.busyMs = 0;
      watched.progress = beat?.progress ?? 0;
      return;
    }
    watched.busyMs += elapsed;
    if (watched.busyMs < busyMsMax(beat, this.#options.eventBudgetMs)) return;
    watched.thread.kill(`${beat.record === 0 ? 'the program' : 'one event'} kept the thread busy for ${Math.round(watched.busyMs)} ms`);
  }
}

/** How long a thread may be seen at one piece of work, ms. */
export function busyMsMax({ record, stateBytes }: Pick<Beat, 'record' | 'stateBytes'>, eventBudgetMs: number): number {
  if (record !== 0) return eventBudgetMs;
  return Math.max(OTHER_WORK_FACTOR * eventBudgetMs, OTHER_WORK_MS_MIN) + stateBytes / STATE_BYTES_PER_MS;
}

function leastUsed(threads: readonly Watched[]): Watched {
  return threads.reduce((best, one) => (one.thread.pipelines < best.thread.pipelines ? one : best));
}
