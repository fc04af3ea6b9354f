import { existsSync } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import { closingOnFailure, syncFolder } from '../../../shared/files/durable-files.ts';
import { fileReason, isFileError } from '../../../shared/files/file-reason.ts';
import {
  changedLetter,
  type DeadLetter,
  type DeadLetters,
  DroppedLetters,
  type FailedAgain,
  type LetterChange,
  type LetterFacts,
  type LetterFilter,
  type LetterPage,
  withinPage,
} from './dead-letters.ts';
import { type LetterFile, LetterIndex, type LetterPlace } from './letter-index.ts';
import { copyPlaces, countUnreadable, type Extent, extended, measure, noRoom, nothing, readInto, textsOf } from './letter-lines.ts';

/** Full files kept besides the one that is written to. */
const FULL_FILES_KEPT = 3;

export interface DeadLetterFileOptions {
  /** `<name>.jsonl`; files that are put aside are `<name>.<number>.jsonl`. */
  readonly path: string;
  /** A file that is larger is put aside. */
  readonly fileBytes: number;
  readonly onDropped: (letters: number) => void;
  /** What must be there. @default nothing must */
  readonly list?: LetterList;
  /** A file is not as the list has it; what is whole in it counts. */
  readonly onDamage?: (file: string, reason: string) => void;
  /** The end of a file was cut: a crash had left it in the middle of a write. */
  readonly onTorn?: (file: string, bytes: number) => void;
}

/** Of the files of one store, by their names, what must be there when the next process opens it. It may always be less than there is. */
export interface LetterList {
  readonly listed: Readonly<Record<string, Extent>>;
  /** The file holds this, on disk; on the list before long. */
  add(name: string, extent: Extent): void;
  /** Resolves when they are off the list on disk, so that they may change, or when the disk does not take that. */
  remove(names: readonly string[]): Promise<void>;
}

const noList: LetterList = { listed: {}, add: () => undefined, remove: async () => undefined };

interface Writing {
  readonly handle: FileHandle;
  readonly file: LetterFile;
  extent: Extent;
}

/**
 * Letters in a file of JSON lines, each synced; a full file is put aside, of those that are put aside the oldest goes. One change at a
 * time. Files are opened when they are first written to, and read through once, when somebody first asks what is in them.
 */
export class DeadLetterFile implements DeadLetters {
  readonly #options: DeadLetterFileOptions;
  readonly #list: LetterList;
  #isExamined = false;
  #writing: Writing | undefined;
  #index: LetterIndex | undefined;
  /** Those put aside, oldest first. */
  #aside: LetterFile[] = [];
  #work: Promise<unknown> = Promise.resolve();
  readonly dropped = new DroppedLetters();

  constructor(options: DeadLetterFileOptions) {
    this.#options = options;
    this.#list = options.list ?? noList;
  }

  /** Ready to be written to. */
  static async open(options: DeadLetterFileOptions): Promise<DeadLetterFile> {
    const file = new DeadLetterFile(options);
    await file.#exclusive(() => file.#opened());
    return file;
  }

  /** A last line that was torn by a crash is cut. */
  async #opened(): Promise<Writing> {
    if (this.#writing !== undefined) return this.#writing;
    const { path } = this.#options;
    const isNew = !existsSync(path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return closingOnFailure(open(path, 'a+', 0o600), async (handle) => {
      if (isNew) await syncFolder(dirname(path));
      const { extent } = isNew ? { extent: nothing } : await measure(path);
      const { size } = await handle.stat();
      if (size > extent.bytes) {
        await handle.truncate(extent.bytes);
        this.#options.onTorn?.(path, size - extent.bytes);
      }
      this.#aside = (await this.#asideNumbers()).map((number) => ({ path: this.#asidePath(number) }));
      this.#writing = { handle, file: { path }, extent };
      return this.#writing;
    });
  }

  /** Compares the files with the list before anything is done with them; says what is not as it was, and lists what there is. */
  examine(): Promise<void> {
    return this.#exclusive(async () => undefined);
  }

  async #examineOnce(): Promise<void> {
    if (this.#isExamined) return;
    this.#isExamined = true;
    const names = await this.#names();
    const before = this.#list.listed;
    for (const name of new Set([...Object.keys(before), ...names])) {
      const path = join(dirname(this.#options.path), name);
      try {
        const damage = names.includes(name) ? await this.#examineFile(path, before[name]) : 'it is gone';
        if (damage !== undefined) this.#options.onDamage?.(path, damage);
      } catch (error) {
        this.#options.onDamage?.(path, `it cannot be read: ${fileReason(error)}`);
      }
    }
    await this.#list.remove(Object.keys(before).filter((name) => !names.includes(name)));
  }

  /** What is wrong with it. */
  async #examineFile(path: string, listed: Extent | undefined): Promise<string | undefined> {
    await rm(`${path}.new`, { force: true });
    const { extent, listedCrc } = await measure(path, listed);
    this.#list.add(basename(path), extent);
    if (listed === undefined) return undefined;
    const isShort = extent.bytes < listed.bytes;
    const isOther = isShort || listedCrc !== listed.crc;
    const unreadable = isOther || extent.bytes > listed.bytes ? await countUnreadable(path, isOther ? 0 : listed.bytes) : 0;
    if (!isOther && unreadable === 0) return undefined;
    const reason = isShort ? `it has ${extent.bytes} of ${listed.bytes} bytes in whole lines` : 'what is in it is not what was written';
    return unreadable === 0 ? reason : `${reason}; ${unreadable} of its lines cannot be read`;
  }

  add(letter: DeadLetter): Promise<void> {
    return this.#exclusive(async () => {
      const line = Buffer.from(`${JSON.stringify(letter)}\n`);
      const { extent: before } = await this.#opened();
      await this.#orReadAgain(async () => {
        if (before.bytes > 0 && before.bytes + line.length > this.#options.fileBytes) await this.#putAside();
        const writing = await this.#opened();
        const { bytesWritten } = await writing.handle.write(line);
        if (bytesWritten < line.length) {
          await writing.handle.truncate(writing.extent.bytes);
          throw noRoom();
        }
        await writing.handle.datasync();
        this.#index?.add(letter, writing.file, writing.extent.bytes, line.length - 1);
        this.#grow(writing, extended(writing.extent, line));
      });
    });
  }

  #grow(writing: Writing, extent: Extent): void {
    writing.extent = extent;
    this.#list.add(basename(writing.file.path), extent);
  }

  page(pipelineId: string, page: Parameters<DeadLetters['page']>[1], filter: LetterFilter = {}): Promise<LetterPage> {
    return this.#answered('read', async () => {
      const { total, places } = (await this.#indexed()).page(pipelineId, page, filter);
      return { total, letters: await textsOf(withinPage(places, ({ length }) => length)) };
    });
  }

  remove(pipelineId: string, remove: (letter: LetterFacts) => boolean): Promise<number> {
    return this.#answered('changed', async () => {
      const index = await this.#indexed();
      const gone = index.of(pipelineId).filter(remove);
      for (const place of gone) index.forget(place);
      await this.#orReadAgain(async () => {
        for (const file of new Set(gone.map((place) => place.file))) await this.#rewrite(file, index.in(file));
      });
      return gone.length;
    });
  }

  update(pipelineId: string, change: LetterChange): Promise<void> {
    return this.#answered('changed', async () => {
      const index = await this.#indexed();
      const changes = new Map<LetterPlace, FailedAgain>();
      for (const place of index.of(pipelineId)) {
        const changed = change(place);
        if (changed !== undefined) changes.set(place, changed);
      }
      await this.#orReadAgain(async () => {
        for (const file of new Set(Array.from(changes.keys(), (place) => place.file))) await this.#rewrite(file, index.in(file), changes);
      });
      for (const [place, { code }] of changes) place.code = code;
    });
  }

  /** Everything goes, the files too. */
  destroy(): Promise<void> {
    // Whatever they hold.
    this.#isExamined = true;
    return this.#exclusive(async () => {
      await this.#close();
      const names = await this.#names();
      await this.#list.remove([...new Set([...Object.keys(this.#list.listed), ...names])]);
      for (const name of names) await rm(join(dirname(this.#options.path), name), { force: true });
    });
  }

  /** Copies the files to a folder. Gives what each copy holds, by its name. What is no file holds no letters, and is said. */
  copyTo(folder: string): Promise<Readonly<Record<string, Extent>>> {
    return this.#exclusive(async () => {
      const copies: Record<string, Extent> = {};
      for (const name of await this.#names()) {
        const path = join(dirname(this.#options.path), name);
        if (!(await stat(path)).isFile()) {
          this.#options.onDamage?.(path, 'it is no file, and not in the copy');
          continue;
        }
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await copyFile(path, join(folder, name));
        copies[name] = (await measure(join(folder, name))).extent;
      }
      return copies;
    });
  }

  close(): Promise<void> {
    return this.#exclusive(() => this.#close());
  }

  async #close(): Promise<void> {
    await this.#writing?.handle.close();
    this.#writing = undefined;
    this.#index = undefined;
  }

  #exclusive<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#work.then(() => this.#examineOnce()).then(action);
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** For who asks, and hears what the file system says. */
  #answered<T>(how: 'read' | 'changed', action: () => Promise<T>): Promise<T> {
    return this.#exclusive(async () => {
      try {
        return await action();
      } catch (cause) {
        throw isFileError(cause) ? unavailable(how, cause) : cause;
      }
    });
  }

  async #indexed(): Promise<LetterIndex> {
    // Who only asks makes no files.
    if (this.#writing === undefined && !(await this.#isThere())) return new LetterIndex();
    const { file } = await this.#opened();
    if (this.#index !== undefined) return this.#index;
    const index = new LetterIndex();
    for (const each of [...this.#aside, file]) await readInto(index, each);
    this.#index = index;
    return index;
  }

  get #name(): string {
    return basename(this.#options.path, '.jsonl');
  }

  #asidePath(number: number): string {
    return join(dirname(this.#options.path), `${this.#name}.${number}.jsonl`);
  }

  async #isThere(): Promise<boolean> {
    return (await this.#names()).length > 0;
  }

  /** Of the files that there are. */
  async #names(): Promise<string[]> {
    const { path } = this.#options;
    const aside = (await this.#asideNumbers()).map((number) => basename(this.#asidePath(number)));
    return existsSync(path) ? [...aside, basename(path)] : aside;
  }

  /** Smallest first. */
  async #asideNumbers(): Promise<number[]> {
    const names = await readdir(dirname(this.#options.path)).catch(() => []);
    const numbers = names.flatMap((name) => {
      const number = name.startsWith(`${this.#name}.`) ? /^(\d+)\.jsonl$/.exec(name.slice(this.#name.length + 1))?.[1] : undefined;
      return number === undefined ? [] : [Number(number)];
    });
    return numbers.sort((a, b) => a - b);
  }

  /** When files are not changed as they were to be, they say themselves what is in them. */
  async #orReadAgain(change: () => Promise<void>): Promise<void> {
    try {
      await change();
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async #putAside(): Promise<void> {
    const { handle, file, extent } = await this.#opened();
    // What goes has to be counted by pipeline; else nobody need know what is in the files.
    const index = this.#aside.length < FULL_FILES_KEPT ? this.#index : await this.#indexed();
    await handle.close();
    this.#writing = undefined;
    const path = this.#asidePath(((await this.#asideNumbers()).at(-1) ?? 0) + 1);
    await this.#list.remove([basename(file.path)]);
    await rename(file.path, path);
    await syncFolder(dirname(path));
    this.#list.add(basename(path), extent);
    file.path = path;
    const aside = [...this.#aside, file];
    const isTooMany = aside.length - FULL_FILES_KEPT;
    if (index !== undefined) for (const old of aside.splice(0, Math.max(0, isTooMany))) await this.#drop(old, index);
    await this.#opened();
    this.#aside = aside;
  }

  async #drop(old: LetterFile, index: LetterIndex): Promise<void> {
    const places = index.in(old);
    await this.#list.remove([basename(old.path)]);
    await rm(old.path, { force: true });
    for (const place of places) {
      index.forget(place);
      this.dropped.add({ pipeline_id: place.pipelineId, connector: place.connector });
    }
    this.#options.onDropped(places.length);
  }

  /** The file is either what it was or what it is to be: what stands at these places. */
  async #rewrite(
    file: LetterFile,
    places: readonly LetterPlace[],
    changes: ReadonlyMap<LetterPlace, FailedAgain> = new Map(),
  ): Promise<void> {
    const unfinished = `${file.path}.new`;
    const copying = copyPlaces(file.path, unfinished, places, (place, line) => {
      const change = changes.get(place);
      return change === undefined ? line : Buffer.from(`${changedLetter(line.toString('utf8'), change)}\n`);
    });
    const { lines, extent } = await copying.catch(async (error: unknown) => {
      // It would hold the last room of a disk that is full.
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw error;
    });
    await this.#list.remove([basename(file.path)]);
    await rename(unfinished, file.path);
    await syncFolder(dirname(file.path));
    this.#list.add(basename(file.path), extent);
    for (const [n, place] of places.entries()) Object.assign(place, lines[n]);
    if (file !== this.#writing?.file) return;
    await this.#writing.handle.close();
    this.#writing = undefined;
    this.#writing = { handle: await open(file.path, 'a+', 0o600), file, extent };
  }
}

function unavailable(how: 'read' | 'changed', cause: unknown): CepError {
  return new CepError('storage_unavailable', `the dead letters cannot be ${how}: ${fileReason(cause)}`, {
    ...(how === 'changed'
      ? { hint: 'see whether its disk is full: to leave some of a file takes room, to forget all of them takes none', retryAfterSeconds: 5 }
      : { hint: 'docs/operations/damaged-storage.md says what to do' }),
    cause,
  });
}
