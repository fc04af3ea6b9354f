import { constants, write } from 'node:fs';
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Level } from 'level';
import { CepError } from '../../../shared/errors/error.ts';
import { syncFolder, writeSynced } from '../../../shared/files/durable-files.ts';
import { makeFolder } from '../../../shared/files/make-folder.ts';
import { encodeIdentity, type Identity } from '../storage/codec.ts';
import { firstStep, type Step } from '../storage/log-storage.ts';
import type { DiskImage } from '../storage/open-log.ts';
import type { Operation } from '../storage/operation.ts';
import { nextSlot, sealWitness, slotBytes, witnessBytes } from '../storage/witness.ts';

/** A write to a file that is open so is durable when it returns, by one call to the system. */
const { O_DSYNC, O_RDWR } = constants;

const WRITE_BUFFER_BYTES = 16_777_216;
/** From the end of one reclaim to the next, and from the start to the first: each writes once more all that is there. */
const reclaimMsDefault = 10_000;

const synced = { sync: true };

/** As `level` gives it outside of browsers; its types know what both have in common. */
type Database = Level<string, Uint8Array> & { readonly compactRange: (start: string, end: string) => Promise<void> };

/** All keys are between them. */
const [firstKey, lastKey] = ['\0', '\x7f'];

/**
 * The disk of a Raft node: a LevelDB in `log/`, beside it the files `identity` and `witness`. LevelDB opens clean, with no error, after it
 * has lost entries to a flipped bit or a missing file; what to believe of it is for `openLog` to say.
 *
 * After one failed write every other fails too: whether the failed one is there is not known before the node starts again.
 */
export class LevelDisk {
  readonly #folder: string;
  readonly #reclaimMs: number;
  #database: Database | undefined;
  #witness: FileHandle | undefined;
  #slot: 0 | 1 = 0;
  #failure: unknown;
  #reclaiming: NodeJS.Timeout | undefined;
  #reclaimedAt = performance.now();

  private constructor(folder: string, reclaimMs: number) {
    this.#folder = folder;
    this.#reclaimMs = reclaimMs;
  }

  /**
   * Opens what is in the folder, which is made when it is missing. What cannot be read is left out of the image.
   * @throws CepError `io_error` when another process has it open, or the system does not let it be opened or read
   */
  static async open(
    folder: string,
    reclaimMs: number = reclaimMsDefault,
  ): Promise<{ readonly disk: LevelDisk; readonly image: DiskImage }> {
    await makeRaftFolder(folder);
    const disk = new LevelDisk(folder, reclaimMs);
    const identity = await readIfThere(join(folder, 'identity'));
    const witness = await readIfThere(join(folder, 'witness'));
    disk.#slot = nextSlot(witness ?? new Uint8Array(0));
    // With an identity there has been a database: one that is gone must not be taken for a new one.
    const records = await disk.#openDatabase(identity === undefined);
    return { disk, image: { identity, records, witness } };
  }

  async #openDatabase(createIfMissing: boolean): Promise<Map<string, Uint8Array>> {
    const records = new Map<string, Uint8Array>();
    const options = { keyEncoding: 'utf8', valueEncoding: 'view', compression: false, writeBufferSize: WRITE_BUFFER_BYTES } as const;
    const database = new Level<string, Uint8Array>(join(this.#folder, 'log'), { ...options, createIfMissing }) as Database;
    try {
      await database.open();
      this.#database = database;
      for await (const [key, value] of database.iterator()) records.set(key, value);
    } catch (cause) {
      if (isLocked(cause)) {
        const hint = 'stop the other coordinator, or give this one a data directory of its own';
        throw new CepError('io_error', `the log in '${this.#folder}' is open in another process`, { hint, cause });
      }
      if (!isDamage(cause)) {
        await database.close().catch(() => undefined);
        throw unreadable(this.#folder, cause);
      }
      // Damaged past opening or reading on: what was read so far is all there is.
    }
    return records;
  }

  /** Makes a new node. Its identity comes last: without one, the rest is no promise. */
  async create(identity: Identity, state: Uint8Array): Promise<void> {
    await this.#strictly(() => writeSynced(join(this.#folder, 'witness'), new Uint8Array(witnessBytes)));
    await this.write(firstStep(identity, state));
    await this.#strictly(async () => {
      const temporary = join(this.#folder, 'identity.tmp');
      await writeSynced(temporary, encodeIdentity(identity));
      await rename(temporary, join(this.#folder, 'identity'));
      await syncFolder(this.#folder);
    });
  }

  /** Does a step of `LogStorage`, the witness last; durable when this resolves. One at a time. */
  async write({ operations, witness }: Step): Promise<void> {
    if (operations.length > 0) await this.writeBatch(operations);
    if (witness !== undefined) await this.writeWitness(sealWitness(witness, []).bytes);
  }

  /** One at a time, but during a `writeWitness`. */
  writeBatch(operations: readonly Operation[]): Promise<void> {
    return this.#strictly(() => this.#batch(operations));
  }

  /** Where the one before it is not, so that this one may be torn. One at a time. */
  writeWitness(bytes: Uint8Array): Promise<void> {
    return this.#strictly(() => (this.#witness === undefined ? this.#openWitness(bytes) : this.#writeSlot(this.#witness, bytes)));
  }

  async #openWitness(bytes: Uint8Array): Promise<void> {
    this.#witness = await open(join(this.#folder, 'witness'), O_RDWR | O_DSYNC);
    await this.#writeSlot(this.#witness, bytes);
  }

  #writeSlot(witness: FileHandle, bytes: Uint8Array): Promise<void> {
    return writeAt(witness.fd, bytes, this.#slot * slotBytes).then(() => {
      this.#slot = this.#slot === 0 ? 1 : 0;
    });
  }

  #batch(operations: readonly Operation[]): Promise<void> {
    if (this.#database === undefined) throw new Error(`the database in '${this.#folder}' could not be opened`);
    const batch = this.#database.batch();
    for (const operation of operations) {
      if (operation.type === 'put') batch.put(operation.key, operation.value);
      else batch.del(operation.key);
    }
    return batch.write(synced);
  }

  /**
   * Gives back the space of what was removed, in a while: LevelDB by itself keeps it until files are merged, which takes tens of megabytes
   * more, and in a group with little to do hours.
   */
  reclaim(): void {
    const waitMs = Math.max(0, this.#reclaimedAt + this.#reclaimMs - performance.now());
    this.#reclaiming ??= setTimeout(() => void this.#reclaim(), waitMs).unref();
  }

  async #reclaim(): Promise<void> {
    // After a failure LevelDB lets the next write fail, which is seen there.
    await this.#database?.compactRange(firstKey, lastKey).catch(() => undefined);
    this.#reclaimedAt = performance.now();
    this.#reclaiming = undefined;
  }

  async #strictly(work: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined) throw new Error('a write before this one failed', { cause: this.#failure });
    try {
      await work();
    } catch (cause) {
      this.#failure ??= cause;
      throw cause;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#reclaiming);
    await this.#witness?.close();
    await this.#database?.close();
  }
}

/** All of it: one call to the system may write less. */
function writeAt(file: number, bytes: Uint8Array, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const writeFrom = (start: number): void =>
      write(file, bytes, start, bytes.length - start, at + start, (cause, written) => {
        if (cause) reject(cause);
        else if (start + written < bytes.length) writeFrom(start + written);
        else resolve();
      });
    writeFrom(0);
  });
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(dirname(path), cause);
  }
}

/** @throws CepError `io_error` */
export async function makeRaftFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (cause) {
    throw unreadable(folder, cause);
  }
}

function unreadable(folder: string, cause: unknown): CepError {
  const hint = 'see to what the system says, and start again; nothing there was changed';
  return new CepError('io_error', `the Raft log in '${folder}' cannot be opened: ${causesOf(cause).at(-1)?.message}`, { hint, cause });
}

function isLocked(cause: unknown): boolean {
  return causesOf(cause).some((error) => 'code' in error && error.code === 'LEVEL_LOCKED');
}

/**
 * Files that are missing, end too early (`Invalid argument`), or have in them what LevelDB did not write. All else, such as too few file
 * descriptors, a missing permission or no memory, says nothing about what is there: who took it for a loss would delete what is whole.
 */
function isDamage(cause: unknown): boolean {
  return causesOf(cause).some(
    (error) =>
      ('code' in error && error.code === 'LEVEL_CORRUPTION') ||
      /: (does not exist \(create_if_missing is false\)|No such file or directory|Invalid argument)$/.test(error.message),
  );
}

/** The outermost first. */
function causesOf(cause: unknown): Error[] {
  return cause instanceof Error ? [cause, ...causesOf(cause.cause)] : [];
}
