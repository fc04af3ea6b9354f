import { readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import { syncFolder, writeSynced } from '../../../shared/files/durable-files.ts';
import type { NodeId } from '../core/messages.ts';
import { DamagedRecord, RecordReader, RecordWriter } from '../storage/record.ts';

/**
 * Which data each other member had when it was first met, in a file of its own that is durable before anything is believed of it. A member
 * whose directory was wiped has promised what it does not know any more: it is told apart by this, and not let in under its old id.
 */
export class KnownIncarnations {
  readonly #path: string;
  readonly #known: Map<NodeId, number>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, known: Map<NodeId, number>) {
    this.#path = path;
    this.#known = known;
  }

  /** @throws CepError `io_error` when the file is damaged */
  static async open(folder: string): Promise<KnownIncarnations> {
    const path = join(folder, 'peers');
    const bytes = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return undefined;
      throw new CepError('io_error', `'${path}' cannot be read: ${cause.message}`, { cause });
    });
    return new KnownIncarnations(path, bytes === undefined ? new Map() : decoded(path, bytes));
  }

  /**
   * Whether `id` may have the data of `incarnation`, which are nobody else's; who is met for the first time is noted, durably, before this
   * resolves.
   */
  async admits(id: NodeId, incarnation: number): Promise<boolean> {
    if ([...this.#known].some(([other, found]) => other !== id && found === incarnation)) return false;
    const known = this.#known.get(id);
    if (known === undefined) {
      this.#known.set(id, incarnation);
      this.#writing = this.#writing.then(() => this.#write());
    }
    await this.#writing;
    return known === undefined || known === incarnation;
  }

  async #write(): Promise<void> {
    await writeSynced(`${this.#path}.tmp`, new RecordWriter().list([...this.#known].flat()).sealed());
    await rename(`${this.#path}.tmp`, this.#path);
    await syncFolder(dirname(this.#path));
  }
}

function decoded(path: string, bytes: Uint8Array): Map<NodeId, number> {
  try {
    const numbers = new RecordReader(bytes).list();
    return new Map(Array.from({ length: numbers.length / 2 }, (_, at) => [numbers[2 * at], numbers[2 * at + 1]] as [number, number]));
  } catch (cause) {
    if (!(cause instanceof DamagedRecord)) throw cause;
    const hint = 'delete it when no other member has lost its data since this one ran last; it is made again of the members it meets';
    throw new CepError('io_error', `'${path}' is damaged: ${cause.message}`, { hint, cause });
  }
}
