import { stat } from 'node:fs/promises';
import { type FSWatcher, watch } from 'chokidar';
import { CepError } from '../shared/errors/error.ts';
import type { CliContext } from './context.ts';
import { reportError } from './report-error.ts';

const DEBOUNCE_MS = 300;
const CLEAR_TERMINAL = '\u001b[2J\u001b[3J\u001b[H';

/** One run of a command that watches files. */
export interface WatchedRun {
  readonly exitCode: number;
  /** What it read: a change of one of these makes it run again. */
  readonly files: readonly string[];
}

type Run = (signal: AbortSignal) => Promise<WatchedRun>;

/**
 * Runs, and runs again whenever a file changes, until Ctrl+C; gives 0. A run that is still going on is broken off. Errors
 * of a run are shown and end nothing, but those of the first one, which are thrown: its files may be misspelt.
 */
export async function runAndWatch(run: Run, context: CliContext, files: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const changes = new FileChanges();
  try {
    await changes.add(files);
    for (let isFirst = true; !interrupt.signal.aborted; isFirst = false) {
      await runUntilChange({ run, context, changes, interrupt: interrupt.signal, isFirst });
    }
    return 0;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await changes.close();
  }
}

interface Round {
  readonly run: Run;
  readonly context: CliContext;
  readonly changes: FileChanges;
  readonly interrupt: AbortSignal;
  readonly isFirst: boolean;
}

async function runUntilChange({ run, context, changes, interrupt, isFirst }: Round): Promise<void> {
  const { stdout, stderr } = context;
  if ('isTTY' in stdout && stdout.isTTY === true) stdout.write(CLEAR_TERMINAL);
  changes.begin();
  const change = new AbortController();
  const changed = Promise.race([changes.next(), aborted(interrupt)]).then(() => change.abort());
  try {
    const { files } = await run(change.signal);
    await changes.add(files);
  } catch (error) {
    if (change.signal.aborted) return;
    if (isFirst || !(error instanceof CepError)) throw error;
    reportError(error, context);
  }
  if (!change.signal.aborted) stderr.write('watching for changes, Ctrl+C ends\n');
  await changed;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Times of files may be behind the clock of the process by a tick of the system. */
const FILE_TIME_GRAIN_MS = 20;

/** Tells when files change, once for changes that come close together. */
class FileChanges {
  readonly #watchers: FSWatcher[] = [];
  readonly #watched = new Set<string>();
  #runBegan = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #failure: CepError | undefined;
  #waiting: { readonly resolve: () => void; readonly reject: (error: CepError) => void } | undefined;

  /** A run begins: what changes from now on it may not have read. */
  begin(): void {
    this.#runBegan = Date.now();
  }

  /**
   * Resolves when the files are watched. What changed before that, but after the run began that read it, is not missed:
   * the time of its last modification tells.
   */
  async add(files: readonly string[]): Promise<void> {
    const added = files.filter((file) => !this.#watched.has(file));
    if (added.length === 0) return;
    for (const file of added) this.#watched.add(file);
    const watcher = watch(added, { ignoreInitial: true });
    this.#watchers.push(watcher);
    watcher.on('error', (cause) => this.#fail(cause));
    watcher.on('all', () => this.#change());
    await new Promise<void>((resolve) => watcher.once('ready', resolve));
    const times = await Promise.all(added.map((file) => stat(file).catch(() => undefined)));
    if (times.some((time) => time !== undefined && time.mtimeMs >= this.#runBegan - FILE_TIME_GRAIN_MS)) this.#change();
  }

  /** Resolves with the next change, at once when there was one since the last time. One caller at a time. */
  next(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#failure) reject(this.#failure);
      else if (this.#hasChanged) this.#settle();
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all(this.#watchers.map((watcher) => watcher.close()));
  }

  #change(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#settle(), DEBOUNCE_MS);
  }

  #settle(): void {
    this.#hasChanged = this.#waiting === undefined;
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #fail(cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#failure = new CepError('runtime_error', `files cannot be watched: ${reason}`, { cause });
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
  }
}
