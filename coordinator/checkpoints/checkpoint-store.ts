import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, rmdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32c } from '../../shared/checksum/crc32c.ts';
import { CepError } from '../../shared/errors/error.ts';
import { syncFolder, writeSynced } from '../../shared/files/durable-files.ts';
import { fileReason, isMissing } from '../../shared/files/file-reason.ts';
import { makeFolder } from '../../shared/files/make-folder.ts';
import { FewAtATime } from './few-at-a-time.ts';

/** How the name of a file ends that is being written. */
const UNFINISHED = '.part';

export interface CheckpointName {
  readonly placementId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** What its name says of a file, which may be one that was not written to its end. */
export interface StoredFile {
  /** That of its placement (`folderName`). */
  readonly folder: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** Bytes of checkpoints, as this member has them, or as all members share them. Which of them count is said by the state of the group. */
export interface CheckpointStore {
  /** Resolves when the bytes are where they stay. Other bytes of the same name stay too. @throws CepError `storage_unavailable` */
  write(name: CheckpointName, bytes: Uint8Array): Promise<void>;
  /**
   * Those with the checksum, else any. Undefined when they are not here, or not as they were written. @throws CepError
   * `storage_unavailable` when a shared store does not say
   */
  read(name: CheckpointName, checksum?: number): Promise<Uint8Array | undefined>;
  /** Removes those of its placement that came before one; sequences begin anew, epochs never do. */
  trim(oldest: CheckpointName): Promise<void>;
  /** Removes those that are garbage: of one group, without `groupId` of all. `inTurn`: each of its parts, which is done alone, so that others come between. */
  sweep(isGarbage: (file: StoredFile) => boolean, groupId?: string, inTurn?: InTurn): Promise<void>;
}

/** When its turn comes. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** A file is there, and not as it was written. */
export type OnDamage = (damage: { readonly file: string; readonly reason: string }) => void;

/** What checkpoints leave of a disk that the log is on as well: as much as that grows by, and what a start wants to find. */
const LEFT_BYTES_MIN = 134_217_728;

/**
 * @param folder Without one they are kept in memory, and gone when the process ends.
 * @param freeBytesOf What is free on the disk of a folder. @default as the file system says it
 */
export function checkpointStore(folder: string | undefined, onDamage?: OnDamage, freeBytesOf = freeBytes): CheckpointStore {
  return folder === undefined ? new MemoryStore() : new FolderStore(folder, { onDamage, freeBytesOf });
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Each request may hold one of the few threads that all files of the process share, those of the log among them: a file server that hangs is not
 * to take the member out of its group.
 */
const SHARED_REQUESTS_MAX = 2;
const SHARED_SILENCE_MS_MAX = 10_000;
const SHARED_WAIT_MS_MAX = 30_000;

interface SharedFolderOptions {
  readonly onDamage?: OnDamage;
  readonly files?: CheckpointStore;
}

/** A folder that all members see, such as one of a file server. Whoever mounts it makes it, so that nothing is written beside it. */
export class SharedFolderStore implements CheckpointStore {
  readonly #folder: string;
  readonly #files: CheckpointStore;
  readonly #turns: FewAtATime;

  constructor(folder: string, { onDamage, files = new FolderStore(folder, { onDamage }) }: SharedFolderOptions = {}) {
    this.#folder = folder;
    this.#files = files;
    this.#turns = new FewAtATime({
      ...{ most: SHARED_REQUESTS_MAX, silenceMsMax: SHARED_SILENCE_MS_MAX, waitMsMax: SHARED_WAIT_MS_MAX },
      what: `the folder of checkpoints '${folder}'`,
    });
  }

  write(name: CheckpointName, bytes: Uint8Array): Promise<void> {
    return this.#whenThere(() => this.#files.write(name, bytes));
  }

  read(name: CheckpointName, checksum?: number): Promise<Uint8Array | undefined> {
    return this.#whenThere(() => this.#files.read(name, checksum));
  }

  trim(oldest: CheckpointName): Promise<void> {
    return this.#turns.run(() => this.#files.trim(oldest));
  }

  async sweep(isGarbage: (file: StoredFile) => boolean, groupId?: string): Promise<void> {
    await this.#whenThere(() => Promise.resolve());
    await this.#files.sweep(isGarbage, groupId, (work) => this.#turns.run(work));
  }

  #whenThere<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      await this.#isThere();
      return await work();
    });
  }

  async #isThere(): Promise<void> {
    try {
      await readdir(this.#folder);
    } catch (error) {
      const message = `the folder of checkpoints '${this.#folder}' cannot be used: ${fileReason(error)}`;
      throw new CepError('storage_unavailable', message, { cause: error, retryAfterSeconds: 1 });
    }
  }
}

/**
 * Removes from the folder of one member what a process has left that ended in the middle of a write. To be called before its log is opened: that takes
 * room which this may hold. Where another process is writing after all, its checkpoint is refused, and comes again.
 */
export async function removeUnfinishedCheckpoints(folder: string): Promise<void> {
  // What cannot be looked into is said by whoever needs it.
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names) if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true }).catch(() => undefined);
}

interface FolderOptions {
  readonly onDamage: OnDamage | undefined;
  /** Where the log is on the same disk. @default checkpoints may fill it */
  readonly freeBytesOf?: (folder: string) => Promise<number>;
}

class FolderStore implements CheckpointStore {
  readonly #folder: string;
  readonly #onDamage: OnDamage;
  readonly #freeBytesOf: FolderOptions['freeBytesOf'];
  /** Of what is being written, which the disk may not show yet. */
  #underWayBytes = 0;

  constructor(folder: string, { onDamage = () => undefined, freeBytesOf }: FolderOptions) {
    this.#folder = folder;
    this.#onDamage = onDamage;
    this.#freeBytesOf = freeBytesOf;
  }

  async write(name: CheckpointName, bytes: Uint8Array): Promise<void> {
    const folder = this.#folderOf(name.placementId);
    const path = join(folder, fileName(name, crc32c(bytes)));
    this.#underWayBytes += bytes.length;
    try {
      await makeFolder(folder);
      await this.#requireRoom(folder);
      await this.#writeWhole(path, bytes);
      await syncFolder(folder);
      await syncFolder(this.#folder);
    } catch (error) {
      if (error instanceof CepError) throw error;
      const message = `the checkpoint cannot be kept: ${fileReason(error)}`;
      throw new CepError('storage_unavailable', message, { cause: error, retryAfterSeconds: 1 });
    } finally {
      this.#underWayBytes -= bytes.length;
    }
  }

  /** A checkpoint that is refused comes again; a coordinator whose log finds no room ends. @throws CepError `storage_unavailable` */
  async #requireRoom(folder: string): Promise<void> {
    if (this.#freeBytesOf === undefined) return;
    const left = (await this.#freeBytesOf(folder)) - this.#underWayBytes;
    if (left >= LEFT_BYTES_MIN) return;
    const found = `would leave ${Math.max(0, Math.floor(left / 1_048_576))} MiB of the disk, and ${LEFT_BYTES_MIN / 1_048_576} are kept for the log`;
    throw new CepError('storage_unavailable', `the checkpoint cannot be kept: it ${found}`, { retryAfterSeconds: 10 });
  }

  async #writeWhole(path: string, bytes: Uint8Array): Promise<void> {
    // Of its own: in a folder that is shared another member may write the same.
    const part = `${path}.${randomUUID()}${UNFINISHED}`;
    try {
      await writeSynced(part, bytes, 0o600);
      await rename(part, path);
    } catch (error) {
      // Left, it would hold the room that the log of the member may need, and each attempt would leave another one.
      await rm(part, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async read(name: CheckpointName, checksum?: number): Promise<Uint8Array | undefined> {
    const folder = this.#folderOf(name.placementId);
    let path = folder;
    try {
      const file = checksum === undefined ? (await filesIn(folder)).find((one) => isNamed(one, name)) : fileName(name, checksum);
      if (file === undefined) return undefined;
      path = join(folder, file);
      const bytes = await readFile(path);
      if (fileName(name, crc32c(bytes)) === file) return bytes;
      this.#onDamage({ file: path, reason: 'its checksum does not fit' });
    } catch (error) {
      if (!isMissing(error)) this.#onDamage({ file: path, reason: fileReason(error) });
    }
    // Whatever is wrong with it here, another member may have it.
    return undefined;
  }

  async trim(oldest: CheckpointName): Promise<void> {
    const folder = this.#folderOf(oldest.placementId);
    for (const file of await filesIn(folder)) if (isBefore(file, oldest)) await rm(join(folder, file), { force: true });
  }

  async sweep(isGarbage: (file: StoredFile) => boolean, groupId?: string, inTurn: InTurn = (work) => work()): Promise<void> {
    for (const folder of await inTurn(() => filesIn(this.#folder))) {
      // Whatever else stands there was put there by others.
      if (!isFolderName(folder) || !(groupId === undefined || folder.startsWith(`${groupId}-`))) continue;
      await inTurn(() => this.#sweepFolder(folder, isGarbage));
    }
  }

  async #sweepFolder(folder: string, isGarbage: (file: StoredFile) => boolean): Promise<void> {
    const path = join(this.#folder, folder);
    const files = await filesIn(path);
    const garbage = files.filter((name) => isGarbage({ folder, ...partsOf(name) }));
    for (const name of garbage) await rm(join(path, name), { force: true });
    if (garbage.length > 0 && garbage.length === files.length) await removeEmpty(path);
  }

  #folderOf(placementId: string): string {
    return join(this.#folder, folderName(placementId));
  }
}

class MemoryStore implements CheckpointStore {
  readonly #checkpoints = new Map<string, Map<string, Uint8Array>>();

  async write(name: CheckpointName, bytes: Uint8Array): Promise<void> {
    const all = this.#checkpoints.get(name.placementId) ?? new Map<string, Uint8Array>();
    all.set(fileName(name, crc32c(bytes)), bytes);
    this.#checkpoints.set(name.placementId, all);
  }

  async read(name: CheckpointName, checksum?: number): Promise<Uint8Array | undefined> {
    const all = this.#checkpoints.get(name.placementId);
    if (checksum !== undefined) return all?.get(fileName(name, checksum));
    return [...(all ?? [])].find(([file]) => isNamed(file, name))?.[1];
  }

  async trim(oldest: CheckpointName): Promise<void> {
    const all = this.#checkpoints.get(oldest.placementId);
    for (const file of all?.keys() ?? []) if (isBefore(file, oldest)) all?.delete(file);
  }

  async sweep(isGarbage: (file: StoredFile) => boolean, groupId?: string): Promise<void> {
    for (const [id, files] of this.#checkpoints) {
      if (!(groupId === undefined || id.startsWith(`${groupId}:`))) continue;
      for (const name of files.keys()) if (isGarbage({ folder: folderName(id), ...partsOf(name) })) files.delete(name);
      if (files.size === 0) this.#checkpoints.delete(id);
    }
  }
}

/** Names of pipelines hold anything. */
export function folderName(placementId: string): string {
  const group = /^\w{1,64}/.exec(placementId)?.[0] ?? 'none';
  return `${group}-${createHash('sha256').update(placementId).digest('hex').slice(0, 32)}`;
}

function isFolderName(folder: string): boolean {
  return /^\w{1,64}-[0-9a-f]{32}$/.test(folder);
}

export function isBefore(file: string, { epoch, sequence }: CheckpointName): boolean {
  const parts = partsOf(file);
  return parts.epoch <= epoch && parts.sequence < sequence;
}

/** Of a file that is no checkpoint NaN, which is neither before nor behind anything. */
export function partsOf(file: string): Pick<StoredFile, 'epoch' | 'sequence'> {
  const [, epoch, sequence] = /^(\d+)-(\d+)-/.exec(file) ?? [];
  return { epoch: Number(epoch), sequence: Number(sequence) };
}

export function fileName({ epoch, sequence }: CheckpointName, checksum: number): string {
  return `${epoch}-${sequence}-${checksum}.checkpoint`;
}

function isNamed(file: string, { epoch, sequence }: CheckpointName): boolean {
  return file.startsWith(`${epoch}-${sequence}-`) && file.endsWith('.checkpoint');
}

/** Something may have been written into it meanwhile, or another member may have removed it. */
async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
