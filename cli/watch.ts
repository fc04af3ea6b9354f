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
  const changes = await FileChanges.of(files);
  try {
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
    changes.add(files);
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

/**
 * Tells when files change, once for changes that come close together. A file that is added while it changes is not missed:
 * when the watcher first sees it, its time of modification tells whether it changed after the run began that read it.
 */
class FileChanges {
  readonly #watcher: FSWatcher;
  readonly #seen = new Set<string>();
  #runBegan = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #failure: CepError | undefined;
  #waiting: { readonly resolve: () => void; readonly reject: (error: CepError) => void } | undefined;

  private constructor(watcher: FSWatcher) {
    this.#watcher = watcher;
    watcher.on('error', (cause) => this.#fail(cause));
    watcher.on('all', (_event, path, stats) => {
      const isFirst = !this.#seen.has(path);
      this.#seen.add(path);
      if (isFirst && stats !== undefined && stats.mtimeMs < this.#runBegan) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#settle(), DEBOUNCE_MS);
    });
  }

  /** Resolves when the files are watched. */
  static async of(files: readonly string[]): Promise<FileChanges> {
    const watcher = watch([...files], { alwaysStat: true });
    const changes = new FileChanges(watcher);
    await new Promise<void>((resolve) => watcher.once('ready', resolve));
    return changes;
  }

  /** A run begins: what changes from now on it may not have read. */
  begin(): void {
    this.#runBegan = Date.now();
  }

  add(files: readonly string[]): void {
    this.#watcher.add([...files]);
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
    await this.#watcher.close();
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
