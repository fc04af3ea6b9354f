import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { makeFolderSync } from '../../shared/files/make-folder.ts';
import type { EngineSnapshot } from '../../worker/engine/engine.ts';
import type { EventPosition } from '../event-files/event-lines.ts';
import type { SavedTotals } from './totals.ts';

const FILE_NAME = 'checkpoint.json';
const VERSION = 1;

/** Everything that a simulation needs to go on where it was; of one that came to its end there is nothing to go on with. */
export type SimulationCheckpoint = OpenCheckpoint | FinishedCheckpoint;

export interface OpenCheckpoint extends CheckpointBase {
  readonly finished: false;
  readonly events: EventPosition;
  readonly engine: EngineSnapshot;
}

export interface FinishedCheckpoint extends CheckpointBase {
  readonly finished: true;
}

interface CheckpointBase {
  /** Digest of the program's text and of the settings that decide results. */
  readonly program: string;
  readonly totals: SavedTotals;
}

/** The checkpoint of a directory, of which there is one. */
export class CheckpointFile {
  readonly #folder: string;
  readonly path: string;

  /** Makes the directory. @throws CepError `io_error` */
  constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, FILE_NAME);
    this.#attempt('made', () => makeFolderSync(folder));
  }

  /** Undefined when there is none. @throws CepError `io_error` when it is damaged or of a later version */
  load(): SimulationCheckpoint | undefined {
    const text = this.#attempt('read', () => readIfPresent(this.path));
    return text === undefined ? undefined : this.#parse(text);
  }

  /** Returns when it is safe on disk. Until then the one before stays what it was. */
  save(checkpoint: SimulationCheckpoint): void {
    const body = JSON.stringify(checkpoint);
    const text = `{"version":${VERSION},"sha256":"${digestOf(body)}","checkpoint":${body}}\n`;
    this.#attempt('written', () => {
      writeSynced(`${this.path}.new`, text);
      renameSync(`${this.path}.new`, this.path);
      syncFolder(this.#folder);
    });
  }

  #parse(text: string): SimulationCheckpoint {
    const hint = `remove '${this.path}' to begin anew`;
    try {
      const { version, sha256, checkpoint } = JSON.parse(text) as { version: unknown; sha256: unknown; checkpoint: SimulationCheckpoint };
      if (typeof version === 'number' && version > VERSION) {
        throw new CepError('io_error', `checkpoint '${this.path}' was written by a later version of cep`, { hint });
      }
      if (sha256 === digestOf(JSON.stringify(checkpoint))) return checkpoint;
    } catch (error) {
      if (error instanceof CepError) throw error; // Anything else is text that is no JSON: reported below.
    }
    throw new CepError('io_error', `checkpoint '${this.path}' is damaged`, { hint });
  }

  #attempt<T>(what: string, action: () => T): T {
    try {
      return action();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CepError('io_error', `checkpoint '${this.path}' cannot be ${what}: ${reason}`, { cause });
    }
  }
}

export function digestOf(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}:`).update(text);
  return hash.digest('hex');
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function writeSynced(path: string, text: string): void {
  const file = openSync(path, 'w');
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
