import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { type ChokidarOptions, type FSWatcher, watch } from 'chokidar';
import type { EventName } from 'chokidar/handler.js';
import { CepError } from '../shared/errors/error.ts';
import { isPattern, namesOfPattern } from '../shared/language/import-pattern.ts';
import type { CliContext } from './context.ts';
import { reportError } from './report-error.ts';

const DEBOUNCE_MS = 300;
const CLEAR_TERMINAL = '\u001b[2J\u001b[3J\u001b[H';

/** One run of a command that watches files. */
export interface WatchedRun {
  readonly exitCode: number;
  /** What it read: a change of one of these makes it run again. */
  readonly files: readonly string[];
  /** Patterns of what it read: it runs again when a file comes that fits one. */
  readonly patterns?: readonly string[];
}

type Run = (signal: AbortSignal) => Promise<WatchedRun>;

/**
 * Runs, and runs again whenever one of these files changes, or something in one of these folders, until Ctrl+C; gives 0.
 * What is deleted may come back. A run that is still going on is broken off. Errors of a run are shown and end nothing, but
 * those of the first one, which are thrown: its files may be misspelt.
 */
export async function runAndWatch(run: Run, context: CliContext, named: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const changes = new FileChanges();
  try {
    for (let isFirst = true; !interrupt.signal.aborted; isFirst = false) {
      await changes.begin(named);
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
  const change = new AbortController();
  const changed = Promise.race([changes.next(), aborted(interrupt)]).then(() => change.abort());
  try {
    const { files, patterns = [] } = await run(change.signal);
    await changes.add([...files, ...patterns]);
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
  readonly #lookouts: NodeJS.Timeout[] = [];
  /** Whether a folder has gone or come: what watches it, or a file that was in it, does not see one that comes in its place. */
  #isStale = false;
  #runBegan = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #failure: CepError | undefined;
  #waiting: { readonly resolve: () => void; readonly reject: (error: CepError) => void } | undefined;

  /** A run begins: what changes from now on it may not have read. Resolves when what the user named is watched. */
  async begin(named: readonly string[]): Promise<void> {
    this.#runBegan = Date.now();
    if (this.#isStale) await this.#forget();
    await this.add(named);
  }

  /**
   * Resolves when the files are watched. What changed before that, but after the run began that read it, is not missed:
   * the time of its last modification tells.
   */
  async add(files: readonly string[]): Promise<void> {
    const added = files.map((file) => resolve(file)).filter((path) => !this.#watched.has(path));
    if (added.length === 0) return;
    for (const path of added) this.#watched.add(path);
    const patterns = added.filter(isPattern);
    const named = added.filter((path) => !isPattern(path));
    await Promise.all([this.#watch(named), ...patterns.map((pattern) => this.#watch([dirname(pattern)], optionsOf(pattern)))]);
    const paths = [...named, ...patterns.map((pattern) => dirname(pattern))];
    const times = await Promise.all(paths.map((path) => stat(path).catch(() => this.#lookFor(path))));
    if (times.some((time) => time && time.mtimeMs >= this.#runBegan - FILE_TIME_GRAIN_MS)) this.#change();
  }

  async #watch(paths: string[], options: ChokidarOptions = {}): Promise<void> {
    const watcher = watch(paths, { ...options, ignoreInitial: true });
    this.#watchers.push(watcher);
    watcher.on('error', (cause) => this.#fail(cause));
    watcher.on('all', (event) => this.#seen(event));
    await new Promise<void>((done) => watcher.once('ready', done));
  }

  /** Of what is missing, the library watches the folder, but only some time after it says that it is ready. */
  #lookFor(path: string): void {
    const timer = setInterval(() => {
      const found = (): void => {
        clearInterval(timer);
        this.#isStale = true;
        this.#change();
      };
      stat(path).then(found, () => undefined);
    }, DEBOUNCE_MS);
    this.#lookouts.push(timer);
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
    await this.#forget();
  }

  async #forget(): Promise<void> {
    this.#isStale = false;
    this.#watched.clear();
    for (const timer of this.#lookouts.splice(0)) clearInterval(timer);
    await Promise.all(this.#watchers.splice(0).map((watcher) => watcher.close()));
  }

  #seen(event: EventName): void {
    this.#isStale ||= event === 'unlinkDir' || event === 'addDir';
    this.#change();
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

/** Of the folder of a pattern, files that fit it are watched. */
function optionsOf(pattern: string): ChokidarOptions {
  const fits = (path: string): boolean => namesOfPattern(basename(pattern), [basename(path)]).length > 0;
  return { depth: 0, ignored: (path, stats) => stats?.isFile() === true && !fits(path) };
}
