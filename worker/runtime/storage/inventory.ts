import { readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32c } from '../../../shared/checksum/crc32c.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { syncFolder, writeSynced } from '../../../shared/files/durable-files.ts';
import { fileReason } from '../../../shared/files/file-reason.ts';
import { damageHint } from './damage.ts';
import { NO_ANSWER, Pending } from './pending.ts';

/** Of everything in the state directory. A directory of a later one is refused; of an earlier one is taken and written anew. */
export const STATE_FORMAT = 2;

export interface ListedPipeline {
  readonly tenantId: string;
  readonly name: string;
  /** Reloads are counted by it. */
  readonly version: number;
  /** The log has nothing of the pipeline before the input of this number: a checkpoint must be as new. */
  readonly loggedFrom: number;
  /** The store had a checkpoint of this input, or a newer one. */
  readonly savedUpTo: number;
}

/** What a state directory must hold. */
export interface Listed {
  readonly format: number;
  /** Names by id. */
  readonly tenants: Readonly<Record<string, string>>;
  readonly pipelines: Readonly<Record<string, ListedPipeline>>;
  /** Segments of the log by number: how long each is, bytes; null of the one that is written to. */
  readonly segments: Readonly<Record<string, number | null>>;
  /** Files of dead letters by their paths in the directory: how long each is at least, bytes, and the CRC-32 of as many. */
  readonly letters: Readonly<Record<string, { readonly bytes: number; readonly crc: number }>>;
}

const nothing: Listed = { format: STATE_FORMAT, tenants: {}, pipelines: {}, segments: {}, letters: {} };

/** How the list was found. */
export type Found = 'none' | 'whole' | 'damaged';

/**
 * The list of what the state directory must hold, in a file beside store and log, so that what is missing from them is missed. Whatever
 * it names is there: what is made is listed once it is on disk, what goes is taken off the list before. One file is written at a time, and
 * holds all changes up to then.
 */
export class Inventory {
  readonly #path: string;
  readonly found: Found;
  /** Told of each write that fails. */
  onFailure: ((cause: unknown) => void) | undefined;
  #listed: Listed;
  #onDisk: Listed;
  #isWritten = true;
  readonly #pending = new Pending();
  #writing: Promise<void> = Promise.resolve();

  /** @throws CepError `io_error` when it cannot be read, or a later version wrote it */
  static async open(path: string): Promise<Inventory> {
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new CepError('io_error', `the inventory '${path}' cannot be read: ${fileReason(error)}`, { hint: damageHint, cause: error });
    });
    const listed = bytes && listedIn(bytes);
    if (listed !== undefined) requireFormat(listed.format, path);
    return new Inventory(path, listed ?? nothing, bytes === undefined ? 'none' : listed === undefined ? 'damaged' : 'whole');
  }

  private constructor(path: string, listed: Listed, found: Found) {
    this.#path = path;
    this.#listed = listed;
    this.#onDisk = listed;
    this.found = found;
  }

  get listed(): Listed {
    return this.#listed;
  }

  /** The list as it stands in the file. */
  get onDisk(): Listed {
    return this.#onDisk;
  }

  /** The write that is under way may never end. */
  get isLate(): boolean {
    return this.#pending.isLate;
  }

  /** Resolves when the change is on disk. @throws CepError `storage_unavailable`; the list keeps the change for the next time */
  change(change: (listed: Listed) => Partial<Listed>): Promise<void> {
    this.note(change);
    if (this.isLate) return Promise.reject(unavailable(NO_ANSWER));
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  /** A change that is as true later: it is on disk with the next write, of which `keepUp` makes sure. */
  note(change: (listed: Listed) => Partial<Listed>): void {
    this.#listed = { ...this.#listed, format: STATE_FORMAT, ...change(this.#listed) };
    this.#isWritten = false;
  }

  /** Writes what has been noted. Who is told of writes that fail is told of this one. */
  async keepUp(): Promise<void> {
    if (!this.#isWritten) await this.change(() => ({})).catch(() => undefined);
  }

  async #write(): Promise<void> {
    if (this.#isWritten) return;
    const { listed } = this;
    this.#isWritten = true;
    try {
      await this.#pending.during(() => replace(this.#path, textOf(listed)));
      this.#onDisk = listed;
    } catch (cause) {
      this.#isWritten = false;
      this.onFailure?.(cause);
      throw unavailable(fileReason(cause), cause);
    }
  }
}

function unavailable(reason: string, cause?: unknown): CepError {
  return new CepError('storage_unavailable', `the state directory does not take the change: ${reason}`, {
    hint: 'see whether its disk is full',
    retryAfterSeconds: 5,
    cause,
  });
}

/** @throws CepError `io_error` when this version is older than what it reads */
export function requireFormat(format: number, path: string): void {
  if (format <= STATE_FORMAT) return;
  throw new CepError('io_error', `'${path}' has format ${format}, and this version reads formats up to ${STATE_FORMAT}`, {
    hint: 'start the version that wrote it, or a later one',
  });
}

/** One line of JSON, and a second with its checksum. */
function textOf(listed: Listed): string {
  const text = JSON.stringify(listed);
  return `${text}\n${crc32c(Buffer.from(text)).toString(16)}\n`;
}

function listedIn(bytes: Buffer): Listed | undefined {
  const [text = '', sum] = bytes.toString('utf8').split('\n');
  return crc32c(Buffer.from(text)).toString(16) === sum ? { ...nothing, ...(JSON.parse(text) as Partial<Listed>) } : undefined;
}

/** A reader finds the file as it was or as it is to be. */
async function replace(path: string, text: string): Promise<void> {
  const unfinished = `${path}.new`;
  await writeSynced(unfinished, text, 0o600);
  await rename(unfinished, path);
  await syncFolder(dirname(path));
}
