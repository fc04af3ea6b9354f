import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import { CepError } from '../../../shared/errors/error.ts';
import { encodeIdentity, type Identity } from '../storage/codec.ts';
import { firstStep, type Operation, type Step } from '../storage/log-storage.ts';
import type { DiskImage } from '../storage/open-log.ts';
import { slotBytes, witnessBytes } from '../storage/witness.ts';
import { Journal, syncFolder, writeAt } from './journal.ts';

const { O_DSYNC, O_RDWR } = constants;

/**
 * The disk of a Raft node: a journal in `log/`, beside it the files `identity` and `witness`. What to believe of what it finds is for
 * `openLog` to say.
 *
 * After one failed write every other fails too: whether the failed one is there is not known before the node starts again.
 */
export class JournalDisk {
  readonly #folder: string;
  readonly #lock: Level;
  readonly #journal: Journal;
  #witness: FileHandle | undefined;
  #witnessOffset: number | undefined;
  #failure: unknown;

  private constructor(folder: string, lock: Level, journal: Journal) {
    this.#folder = folder;
    this.#lock = lock;
    this.#journal = journal;
  }

  /**
   * Opens what is in the folder, which is made when it is missing. What cannot be read is left out of the image.
   * @throws CepError `io_error` when another process has it open
   */
  static async open(folder: string): Promise<{ readonly disk: JournalDisk; readonly image: DiskImage }> {
    await mkdir(folder, { recursive: true });
    const lock = await locked(folder);
    const identity = await readIfThere(join(folder, 'identity'));
    const witness = await readIfThere(join(folder, 'witness'));
    const journal = await Journal.open(join(folder, 'log'));
    return { disk: new JournalDisk(folder, lock, journal), image: { identity, records: journal.records, witness } };
  }

  /** Makes a new node. Its identity comes last: without one, the rest is no promise. */
  async create(identity: Identity, state: Uint8Array): Promise<void> {
    const witness = await open(join(this.#folder, 'witness'), 'w');
    await this.#strictly(async () => {
      await witness.write(new Uint8Array(witnessBytes), 0, witnessBytes, 0);
      await witness.sync();
      await witness.close();
    });
    await this.write(firstStep(identity, state));
    await this.#strictly(async () => {
      const temporary = join(this.#folder, 'identity.tmp');
      const file = await open(temporary, 'w');
      await file.writeFile(encodeIdentity(identity));
      await file.sync();
      await file.close();
      await rename(temporary, join(this.#folder, 'identity'));
      await syncFolder(this.#folder);
    });
  }

  /** Does a step of `LogStorage`; durable when this resolves. One at a time. */
  async write({ operations, witness }: Step): Promise<void> {
    if (operations.length > 0) await this.writeBatch(operations);
    if (witness !== undefined) await this.writeWitness(witness);
  }

  /** One at a time, but during a `writeWitness`. */
  writeBatch(operations: readonly Operation[]): Promise<void> {
    return this.#strictly(() => this.#journal.write(operations));
  }

  /** Where the one before it is not, so that this one may be torn. One at a time. */
  writeWitness({ offset, bytes }: NonNullable<Step['witness']>): Promise<void> {
    return this.#strictly(async () => {
      this.#witness ??= await open(join(this.#folder, 'witness'), O_RDWR | O_DSYNC);
      this.#witnessOffset = offset === this.#witnessOffset ? slotBytes - offset : offset;
      await writeAt(this.#witness, bytes, this.#witnessOffset);
    });
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
    this.#failure ??= new Error('it is closed');
    await this.#witness?.close();
    await this.#journal.close();
    await this.#lock.close();
  }
}

/** That of a LevelDB, since it is the one lock on a file that ends with its process and that Node can take. Nothing is kept in it. */
async function locked(folder: string): Promise<Level> {
  const path = join(folder, 'lock');
  try {
    return await opened(path);
  } catch (cause) {
    if (!isLocked(cause)) {
      // It was locked, and then something was wrong with its files.
      await rm(path, { recursive: true, force: true });
      return opened(path);
    }
    const hint = 'stop the other coordinator, or give this one a data directory of its own';
    throw new CepError('io_error', `the log in '${folder}' is open in another process`, { hint, cause });
  }
}

async function opened(path: string): Promise<Level> {
  const lock = new Level(path);
  await lock.open();
  return lock;
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
}

function isLocked(cause: unknown): boolean {
  for (let error = cause; error instanceof Error; error = error.cause) if ('code' in error && error.code === 'LEVEL_LOCKED') return true;
  return false;
}
