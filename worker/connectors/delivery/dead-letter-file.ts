import { type FileHandle, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DeadLetter, type DeadLetters, DroppedLetters } from './dead-letters.ts';

const FILE_BYTES_DEFAULT = 64 * 1_048_576;
/** Full files kept besides the one that is written to. */
const FULL_FILES_KEPT = 3;

export interface DeadLetterFileOptions {
  /** `dlq.jsonl` of the state directory. */
  readonly path: string;
  /** A file that is larger is put aside. */
  readonly fileBytes?: number;
  readonly onDropped: (letters: number) => void;
}

/** Letters in a file of JSON lines, each synced; a full file is put aside, of those that are put aside the oldest goes. One change at a time. */
export class DeadLetterFile implements DeadLetters {
  readonly #options: DeadLetterFileOptions;
  #handle: FileHandle;
  #size: number;
  #work: Promise<unknown> = Promise.resolve();
  readonly dropped = new DroppedLetters();

  /** A last line that was torn by a crash is ended, so that the next one stands on its own. */
  static async open(options: DeadLetterFileOptions): Promise<DeadLetterFile> {
    const handle = await open(options.path, 'a+', 0o600);
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    const isTorn = size > 0 && last[0] !== 10;
    if (isTorn) await handle.appendFile('\n');
    return new DeadLetterFile(options, handle, isTorn ? size + 1 : size);
  }

  private constructor(options: DeadLetterFileOptions, handle: FileHandle, size: number) {
    this.#options = options;
    this.#handle = handle;
    this.#size = size;
  }

  add(letter: DeadLetter): Promise<void> {
    return this.#exclusive(async () => {
      const line = Buffer.from(`${JSON.stringify(letter)}\n`);
      if (this.#size > 0 && this.#size + line.length > (this.#options.fileBytes ?? FILE_BYTES_DEFAULT)) await this.#putAside();
      const { bytesWritten } = await this.#handle.write(line);
      if (bytesWritten < line.length) {
        await this.#handle.truncate(this.#size);
        throw new Error('the dead-letter file has no room');
      }
      await this.#handle.datasync();
      this.#size += line.length;
    });
  }

  list(pipelineId: string): Promise<readonly DeadLetter[]> {
    return this.#exclusive(async () => {
      const files = await Promise.all((await this.#paths()).map(lettersOf));
      // After a crash an event may be given up once more: it is one letter all the same.
      const letters = new Map<string, DeadLetter>();
      for (const letter of files.flat()) if (letter.pipeline_id === pipelineId) letters.set(keyOf(letter), letter);
      return [...letters.values()];
    });
  }

  remove(pipelineId: string, remove: (letter: DeadLetter) => boolean): Promise<number> {
    return this.#exclusive(async () => {
      const removed = new Set<string>();
      for (const path of await this.#paths()) {
        const letters = await lettersOf(path);
        const gone = letters.filter((letter) => letter.pipeline_id === pipelineId && remove(letter));
        if (gone.length === 0) continue;
        const isGone = new Set(gone);
        await this.#rewrite(
          path,
          letters.filter((letter) => !isGone.has(letter)),
        );
        for (const letter of gone) removed.add(keyOf(letter));
      }
      return removed.size;
    });
  }

  async close(): Promise<void> {
    await this.#exclusive(() => this.#handle.close());
  }

  #exclusive<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#work.then(action);
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** Oldest first. */
  async #paths(): Promise<string[]> {
    const { path } = this.#options;
    const numbers = (await readdir(dirname(path))).flatMap((name) => /^dlq\.(\d+)\.jsonl$/.exec(name)?.[1] ?? []).map(Number);
    return [...numbers.sort((a, b) => a - b).map((number) => this.#asidePath(number)), path];
  }

  #asidePath(number: number): string {
    return join(dirname(this.#options.path), `dlq.${number}.jsonl`);
  }

  async #putAside(): Promise<void> {
    const { path, onDropped } = this.#options;
    const aside = (await this.#paths()).slice(0, -1);
    const last = Number(/(\d+)\.jsonl$/.exec(aside.at(-1) ?? '')?.[1] ?? 0);
    await this.#handle.close();
    await rename(path, this.#asidePath(last + 1));
    this.#handle = await open(path, 'a', 0o600);
    this.#size = 0;
    for (const old of aside.slice(0, Math.max(0, aside.length + 1 - FULL_FILES_KEPT))) {
      const letters = await lettersOf(old);
      await rm(old, { force: true });
      for (const letter of letters) this.dropped.add(letter);
      onDropped(letters.length);
    }
  }

  /** The file is either what it was or what it is to be. */
  async #rewrite(path: string, letters: readonly DeadLetter[]): Promise<void> {
    const text = letters.map((letter) => `${JSON.stringify(letter)}\n`).join('');
    const unfinished = `${path}.new`;
    await writeFile(unfinished, text, { mode: 0o600, flush: true });
    await rename(unfinished, path);
    if (path !== this.#options.path) return;
    await this.#handle.close();
    this.#handle = await open(path, 'a', 0o600);
    this.#size = Buffer.byteLength(text);
  }
}

/** What makes two letters of a pipeline the same. */
function keyOf({ connector, id }: DeadLetter): string {
  return `${connector} ${id}`;
}

/** Lines that are no letters, as a torn one, are passed over. */
async function lettersOf(path: string): Promise<DeadLetter[]> {
  const text = await readFile(path, 'utf8');
  return text.split('\n').flatMap((line) => {
    try {
      const letter: unknown = line === '' ? null : JSON.parse(line);
      return typeof letter === 'object' && letter !== null ? [letter as DeadLetter] : [];
    } catch {
      return []; // Torn when the process ended.
    }
  });
}
