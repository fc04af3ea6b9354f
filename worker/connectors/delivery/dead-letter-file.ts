import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type DeadLetter, type DeadLetters, DroppedLetters, type LetterKey, type LetterPage, withinPage } from './dead-letters.ts';
import { type LetterFile, LetterIndex, type LetterPlace } from './letter-index.ts';

/** Full files kept besides the one that is written to. */
const FULL_FILES_KEPT = 3;
const COPY_BYTES = 1_048_576;

export interface DeadLetterFileOptions {
  /** `<name>.jsonl`; files that are put aside are `<name>.<number>.jsonl`. */
  readonly path: string;
  /** A file that is larger is put aside. */
  readonly fileBytes: number;
  readonly onDropped: (letters: number) => void;
}

interface Writing {
  readonly handle: FileHandle;
  readonly file: LetterFile;
  size: number;
}

/**
 * Letters in a file of JSON lines, each synced; a full file is put aside, of those that are put aside the oldest goes. One change at a
 * time. Files are opened when they are first written to, and read through once, when somebody first asks what is in them.
 */
export class DeadLetterFile implements DeadLetters {
  readonly #options: DeadLetterFileOptions;
  #writing: Writing | undefined;
  #index: LetterIndex | undefined;
  /** Those put aside, oldest first. */
  #aside: LetterFile[] = [];
  #work: Promise<unknown> = Promise.resolve();
  readonly dropped = new DroppedLetters();

  constructor(options: DeadLetterFileOptions) {
    this.#options = options;
  }

  /** Ready to be written to. */
  static async open(options: DeadLetterFileOptions): Promise<DeadLetterFile> {
    const file = new DeadLetterFile(options);
    await file.#exclusive(() => file.#opened());
    return file;
  }

  /** A last line that was torn by a crash is ended, so that the next one stands on its own. */
  async #opened(): Promise<Writing> {
    if (this.#writing !== undefined) return this.#writing;
    const { path } = this.#options;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const handle = await open(path, 'a+', 0o600);
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    const isTorn = size > 0 && last[0] !== 10;
    if (isTorn) await handle.appendFile('\n');
    this.#aside = (await this.#asideNumbers()).map((number) => ({ path: this.#asidePath(number) }));
    this.#writing = { handle, file: { path }, size: isTorn ? size + 1 : size };
    return this.#writing;
  }

  add(letter: DeadLetter): Promise<void> {
    return this.#exclusive(async () => {
      const line = Buffer.from(`${JSON.stringify(letter)}\n`);
      const { size: before } = await this.#opened();
      if (before > 0 && before + line.length > this.#options.fileBytes) {
        await this.#orReadAgain(() => this.#putAside());
      }
      const writing = await this.#opened();
      const { bytesWritten } = await writing.handle.write(line);
      if (bytesWritten < line.length) {
        await writing.handle.truncate(writing.size);
        throw new Error('the dead-letter file has no room');
      }
      await writing.handle.datasync();
      this.#index?.add(letter, writing.file, writing.size, line.length - 1);
      writing.size += line.length;
    });
  }

  page(pipelineId: string, { limit, offset }: { readonly limit: number; readonly offset: number }): Promise<LetterPage> {
    return this.#exclusive(async () => {
      const index = await this.#indexed();
      const places = withinPage(index.of(pipelineId).slice(offset, offset + limit), ({ length }) => length);
      return { total: index.countOf(pipelineId), letters: await textsOf(places) };
    });
  }

  remove(pipelineId: string, remove: (letter: LetterKey) => boolean): Promise<number> {
    return this.#exclusive(async () => {
      const index = await this.#indexed();
      const gone = index.of(pipelineId).filter(remove);
      for (const place of gone) index.forget(place);
      await this.#orReadAgain(async () => {
        for (const file of new Set(gone.map((place) => place.file))) await this.#rewrite(file, index.in(file));
      });
      return gone.length;
    });
  }

  /** Everything goes, the files too. */
  destroy(): Promise<void> {
    return this.#exclusive(async () => {
      if (this.#writing === undefined && !(await this.#isThere())) return;
      const { file } = await this.#opened();
      await this.#close();
      for (const { path } of [...this.#aside, file]) await rm(path, { force: true });
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
    const done = this.#work.then(action);
    this.#work = done.catch(() => undefined);
    return done;
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
    const { path } = this.#options;
    return existsSync(path) || (existsSync(dirname(path)) && (await this.#asideNumbers()).length > 0);
  }

  /** Smallest first. */
  async #asideNumbers(): Promise<number[]> {
    const names = await readdir(dirname(this.#options.path));
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
    const { handle, file } = await this.#opened();
    const index = await this.#indexed();
    await handle.close();
    this.#writing = undefined;
    const path = this.#asidePath(((await this.#asideNumbers()).at(-1) ?? 0) + 1);
    await rename(file.path, path);
    file.path = path;
    const aside = [...this.#aside, file];
    const isTooMany = aside.length - FULL_FILES_KEPT;
    for (const old of aside.splice(0, Math.max(0, isTooMany))) await this.#drop(old, index);
    await this.#opened();
    this.#aside = aside;
  }

  async #drop(old: LetterFile, index: LetterIndex): Promise<void> {
    const places = index.in(old);
    await rm(old.path, { force: true });
    for (const place of places) {
      index.forget(place);
      this.dropped.add({ pipeline_id: place.pipelineId, connector: place.connector });
    }
    this.#options.onDropped(places.length);
  }

  /** The file is either what it was or what it is to be: what stands at these places. */
  async #rewrite(file: LetterFile, places: readonly LetterPlace[]): Promise<void> {
    const unfinished = `${file.path}.new`;
    const offsets = await copyPlaces(file.path, unfinished, places);
    await rename(unfinished, file.path);
    for (const [n, place] of places.entries()) place.offset = offsets[n] as number;
    if (file !== this.#writing?.file) return;
    await this.#writing.handle.close();
    this.#writing = undefined;
    const handle = await open(file.path, 'a+', 0o600);
    this.#writing = { handle, file, size: (await handle.stat()).size };
  }
}

/** In the order of the places. */
async function textsOf(places: readonly LetterPlace[]): Promise<string[]> {
  const handles = new Map<LetterFile, FileHandle>();
  try {
    const texts: string[] = [];
    for (const { file, offset, length } of places) {
      const handle = handles.get(file) ?? (await open(file.path, 'r'));
      handles.set(file, handle);
      texts.push((await handle.read(Buffer.allocUnsafe(length), 0, length, offset)).buffer.toString('utf8'));
    }
    return texts;
  } finally {
    for (const handle of handles.values()) await handle.close();
  }
}

/** Writes the lines at these places to another file, synced. Gives their new offsets. */
async function copyPlaces(from: string, to: string, places: readonly LetterPlace[]): Promise<number[]> {
  const source = await open(from, 'r');
  const target = await open(to, 'w', 0o600);
  try {
    const offsets: number[] = [];
    let lines: Buffer[] = [];
    let waiting = 0;
    let written = 0;
    const flush = async (): Promise<void> => {
      const { bytesWritten } = await target.writev(lines);
      if (bytesWritten < waiting) throw new Error('the dead-letter file has no room');
      lines = [];
      waiting = 0;
    };
    for (const { offset, length } of places) {
      const line = Buffer.allocUnsafe(length + 1);
      await source.read(line, 0, length + 1, offset);
      offsets.push(written);
      written += line.length;
      waiting += line.length;
      lines.push(line);
      if (waiting > COPY_BYTES) await flush();
    }
    if (lines.length > 0) await flush();
    await target.datasync();
    return offsets;
  } finally {
    await source.close();
    await target.close();
  }
}

/** Lines that are no letters, as a torn one, are passed over. */
async function readInto(index: LetterIndex, file: LetterFile): Promise<void> {
  let offset = 0;
  for await (const line of linesOf(file.path)) {
    const letter = letterOf(line);
    if (letter !== undefined) index.add(letter, file, offset, line.length);
    offset += line.length + 1;
  }
}

/** The bytes of each line of a file, without its end. What stands behind the last end is no line. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      yield rest.length === 0 ? piece : Buffer.concat([...rest, piece]);
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}

function letterOf(line: Buffer): DeadLetter | undefined {
  try {
    const letter: unknown = line.length === 0 ? null : JSON.parse(line.toString('utf8'));
    return typeof letter === 'object' && letter !== null ? (letter as DeadLetter) : undefined;
  } catch {
    return undefined; // Torn when the process ended.
  }
}
