import { constants, createReadStream } from 'node:fs';
import { type FileHandle, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { closingOnFailure } from '../../../shared/files/durable-files.ts';
import { fileReason, isMissing } from '../../../shared/files/file-reason.ts';
import { openRegular } from '../../../shared/files/regular-file.ts';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';

/** How much of the end of a file, and of those that it was before, is searched for messages that come again after a crash. */
const SEARCHED_BYTES = 67_108_864;
/** How long a line may stay in the memory of the system before it is written to the disk, ms. */
const SYNC_MS = 100;
const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT } = constants;
const FILES_MAX = 64;
const BATCH_MESSAGES_MAX = 500;

export interface AppendedFileOptions {
  /** Where messages go that name no file; null: each names one. */
  readonly path: string | null;
  /** The path of a file that may be written to. */
  readonly filePath: (path: string) => string | undefined;
}

/** Appends each message to a file as a line. What stands there already, by its id, is not written again. */
export class AppendedFile implements Sink {
  readonly #options: AppendedFileOptions;
  readonly #files = new Map<string, Promise<LineFile>>();

  constructor(options: AppendedFileOptions) {
    this.#options = options;
  }

  readonly batching: Batching = { messages: BATCH_MESSAGES_MAX, send: (messages, signal) => this.#sendBatch(messages, signal) };

  async send(message: SinkMessage): Promise<void> {
    const [outcome] = await this.#sendBatch([message]);
    if (outcome instanceof DeliveryFailure) throw outcome;
  }

  /** One write for each file. */
  async #sendBatch(messages: readonly SinkMessage[], signal?: AbortSignal): Promise<readonly Outcome[]> {
    const byPath = this.#placesByPath(messages);
    const allowed = new Set([...byPath.values()].flat());
    const outcomes = messages.map(({ topic }, at): Outcome => (allowed.has(at) ? 'alone' : forbidden(topic ?? this.#options.path)));
    for (const [path, places] of byPath) {
      // Whoever has given them up has made something else of the rest.
      if (signal?.aborted) break;
      const ofFile = await this.#append(
        path,
        places.map((at) => messages[at] as SinkMessage),
      );
      for (const [nth, outcome] of ofFile.entries()) outcomes[places[nth] as number] = outcome;
    }
    return outcomes;
  }

  /** Which messages go to which file, in their order. Those that may go to none are left out. */
  #placesByPath(messages: readonly SinkMessage[]): ReadonlyMap<string, readonly number[]> {
    const names = new Set(messages.map(({ topic }) => topic ?? this.#options.path));
    const paths = new Map(Array.from(names, (name) => [name, name === null ? undefined : this.#options.filePath(name)]));
    const places = new Map<string, number[]>();
    for (const [at, { topic }] of messages.entries()) {
      const path = paths.get(topic ?? this.#options.path);
      if (path === undefined) continue;
      const known = places.get(path);
      if (known === undefined) places.set(path, [at]);
      else known.push(at);
    }
    return places;
  }

  async #append(path: string, messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    try {
      const written = await (await this.#fileAt(path)).append(messages);
      const failure = fileError(path, noRoom());
      return messages.map((_, at) => (at < written ? 'taken' : at === written ? failure : 'alone'));
    } catch (error) {
      // It is said of the first, as it would be if each came alone.
      const failure = fileError(path, error);
      return messages.map((_, at) => (at === 0 ? failure : 'alone'));
    }
  }

  /** The one that stands there now: after it was renamed, as rotation does, or removed, it is another. */
  async #fileAt(path: string): Promise<LineFile> {
    const file = await this.#fileOf(path);
    if (await file.isAt(path)) return file;
    if ((await this.#files.get(path)) === file) await this.#close(path);
    const next = await this.#fileOf(path);
    if (next !== file) next.takeOver(file);
    return next;
  }

  async #fileOf(path: string): Promise<LineFile> {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const [oldest] = this.#files.keys();
    if (this.#files.size >= FILES_MAX && oldest !== undefined) await this.#close(oldest);
    const opened = LineFile.open(path);
    this.#files.set(path, opened);
    opened.catch(() => this.#files.delete(path));
    return opened;
  }

  async #close(path: string): Promise<void> {
    const file = this.#files.get(path);
    this.#files.delete(path);
    await (await file)?.close();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#files.keys(), (path) => this.#close(path)));
  }
}

function forbidden(name: string | null): DeliveryFailure {
  return new DeliveryFailure('forbidden_path', `the file '${name}' is not in the work directory`, { isPermanent: true });
}

function fileError(path: string, cause: unknown): DeliveryFailure {
  return new DeliveryFailure('file_error', `${path}: ${fileReason(cause)}`, { cause });
}

function noRoom(): Error {
  return Object.assign(new Error('no room'), { code: 'ENOSPC' });
}

/** What tells a file from others. */
interface Place {
  readonly dev: number;
  readonly ino: number;
}

class LineFile {
  readonly #handle: FileHandle;
  readonly #place: Place;
  /** Of lines from before, which may come once more. */
  readonly #before: Set<string>;
  #syncDue: NodeJS.Timeout | undefined;
  #syncing: Promise<void> = Promise.resolve();
  /** Of a sync that failed: the system tells it once, so the next message is told of it. */
  #failure: unknown;

  static async open(path: string): Promise<LineFile> {
    const before = await idsBefore(path);
    return closingOnFailure(openRegular(path, O_RDWR | O_APPEND | O_CREAT, 0o644), async (handle) => {
      const { size } = await handle.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await handle.read(last, 0, 1, size - 1);
      // A line without its end is one that a crash has torn: it stays as it is, and is not gone on with.
      if (size > 0 && last[0] !== 10) await handle.write('\n');
      const { dev, ino } = await handle.stat();
      return new LineFile(handle, { dev, ino }, before);
    });
  }

  private constructor(handle: FileHandle, place: Place, before: Set<string>) {
    this.#handle = handle;
    this.#place = place;
    this.#before = before;
  }

  /** Whether a path leads to it still. */
  async isAt(path: string): Promise<boolean> {
    const found = await stat(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    return found?.ino === this.#place.ino && found.dev === this.#place.dev;
  }

  /** What stands in the one that was here before may come once more too. */
  takeOver(before: LineFile): void {
    for (const id of before.#before) this.#before.add(id);
    this.#failure ??= before.#failure;
  }

  /** How many of them, from the first, are in the file then: less than all when there is no room for more. */
  async append(messages: readonly SinkMessage[]): Promise<number> {
    this.#throwFailure();
    const lines = messages.map(({ id, payload }) => (this.#before.has(id) ? '' : `${payload}\n`));
    const bytes = Buffer.from(lines.join(''));
    const written = bytes.length === 0 ? 0 : (await this.#handle.write(bytes)).bytesWritten;
    const whole = written === bytes.length ? lines.length : await this.#withoutTorn(lines, written);
    for (const { id } of messages.slice(0, whole)) this.#before.delete(id);
    if (written > 0) this.#syncSoon();
    return whole;
  }

  /** Takes away the line in whose middle a write has ended. How many lines are whole. */
  async #withoutTorn(lines: readonly string[], written: number): Promise<number> {
    let [whole, end] = [0, 0];
    for (const line of lines) {
      const next = end + Buffer.byteLength(line);
      if (next > written) break;
      end = next;
      whole++;
    }
    const { size } = await this.#handle.stat();
    await this.#handle.truncate(size - (written - end));
    return whole;
  }

  #syncSoon(): void {
    this.#syncDue ??= setTimeout(() => {
      this.#syncDue = undefined;
      this.#syncing = this.#handle.datasync().catch((error: unknown) => {
        this.#failure = error;
      });
    }, SYNC_MS).unref();
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }

  async close(): Promise<void> {
    clearTimeout(this.#syncDue);
    await this.#syncing;
    await this.#handle.datasync().catch(() => undefined);
    await this.#handle.close();
  }
}

/** Of the last lines at a path: those of the file there, and of what was renamed from there, as rotation does. */
async function idsBefore(path: string): Promise<Set<string>> {
  const ids = new Set<string>();
  let bytesLeft = SEARCHED_BYTES;
  for (const { path: each, size } of await filesOf(path)) {
    if (bytesLeft <= 0) break;
    await addIds(ids, each, Math.max(0, size - bytesLeft));
    bytesLeft -= size;
  }
  return ids;
}

/** Newest first. What was compressed is left out. */
async function filesOf(path: string): Promise<readonly { readonly path: string; readonly size: number }[]> {
  const [folder, name] = [dirname(path), basename(path)];
  // Who may write to a folder need not be let to list it.
  const names = (await readdir(folder).catch(() => [name])).filter(
    (each) => each === name || (each.startsWith(`${name}.`) && !each.endsWith('.gz')),
  );
  const found = await Promise.all(
    names.map(async (each) => {
      const stats = await stat(join(folder, each)).catch(() => undefined);
      return stats?.isFile() ? [{ path: join(folder, each), size: stats.size, mtimeMs: stats.mtimeMs }] : [];
    }),
  );
  return found.flat().sort((a, b) => b.mtimeMs - a.mtimeMs);
}

async function addIds(ids: Set<string>, path: string, start: number): Promise<void> {
  const fd = await openRegular(path, O_RDONLY);
  for await (const line of createInterface({ input: createReadStream('', { fd, start }) })) {
    const [, id] = /"id":"([^"\\]+)"/.exec(line) ?? [];
    if (id !== undefined && isWhole(line)) ids.add(id);
  }
}

/** A message whose line a crash has torn is to be written again. */
function isWhole(line: string): boolean {
  if (!line.endsWith('}')) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
