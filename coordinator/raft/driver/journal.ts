import { constants, write as writeCalled } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from '../storage/log-storage.ts';
import { encodeFrames, encodePutFrames, readFrames } from './journal-frames.ts';

/** A write to a file that is open so is durable when it returns, by one call to the system. */
const { O_CREAT, O_DSYNC, O_RDWR, O_TRUNC } = constants;
/** Zeros are written ahead, so much at least and in pieces of this size: to write over what is there changes no length, and so takes one sync less. */
const aheadBytes = 1_048_576;
/** A new generation is begun when the batches take more than this, and more than what is alive. */
const batchBytesMaxDefault = 33_554_432;

type Records = Map<string, Uint8Array>;

/**
 * An ordered database of few keys as a file of batches, one behind another, each with a checksum. A file is a generation: it begins with
 * everything that was alive, and counts only when that is whole; the one before it is removed afterwards. Everything is in memory too.
 *
 * What stands behind a batch that is damaged is not read: the log ends there, which `openLog` notices.
 */
export class Journal {
  readonly #folder: string;
  readonly #records: Records;
  #generation: number;
  #file: FileHandle | undefined;
  #end = 0;
  #zeroedTo = 0;
  #liveBytes = 0;
  #checkpointEnd = 0;
  #ahead: Promise<void> | undefined;
  #aheadFailure: unknown;

  readonly #batchBytesMax: number;

  private constructor(folder: string, generation: number, records: Records, batchBytesMax: number) {
    this.#folder = folder;
    this.#batchBytesMax = batchBytesMax;
    this.#generation = generation;
    this.#records = records;
    for (const value of records.values()) this.#liveBytes += value.length;
  }

  /** What is there is read, and nothing is written before the first batch. */
  static async open(folder: string, batchBytesMax = batchBytesMaxDefault): Promise<Journal> {
    await mkdir(folder, { recursive: true });
    const found = (await generationsOf(folder)).reverse();
    let best: ReturnType<typeof readFrames> | undefined;
    for (const generation of found) {
      const read = readFrames(await readFile(pathOf(folder, generation)));
      best ??= read;
      if (!read.isWhole) continue;
      best = read;
      break;
    }
    return new Journal(folder, found[0] ?? 0, best?.records ?? new Map(), batchBytesMax);
  }

  /** As it is now; what is written later does not change it. */
  get records(): ReadonlyMap<string, Uint8Array> {
    return new Map(this.#records);
  }

  /** All of it or nothing; durable when this resolves. One at a time. After one that failed nobody knows what the file has. */
  async write(operations: readonly Operation[]): Promise<void> {
    this.#take(operations);
    // A new file has the operations among what is alive.
    if (this.#file === undefined || this.#isLong()) return this.#begin();
    const bytes = encodeFrames(operations);
    if (this.#end + bytes.length > this.#zeroedTo) await this.#zero(bytes.length);
    if (this.#aheadFailure !== undefined) throw this.#aheadFailure;
    await writeAt(this.#file, bytes, this.#end);
    this.#end += bytes.length;
    if (this.#zeroedTo - this.#end < aheadBytes) this.#zeroAhead();
  }

  #zeroAhead(): void {
    this.#ahead ??= this.#zero(0).catch((failure) => {
      this.#aheadFailure = failure;
    });
  }

  #isLong(): boolean {
    return this.#end - this.#checkpointEnd > Math.max(this.#batchBytesMax, this.#liveBytes);
  }

  #take(operations: readonly Operation[]): void {
    for (const operation of operations) {
      this.#liveBytes -= this.#records.get(operation.key)?.length ?? 0;
      this.#records.delete(operation.key);
      if (operation.type === 'delete') continue;
      this.#records.set(operation.key, operation.value);
      this.#liveBytes += operation.value.length;
    }
  }

  /** Zeros behind what is there, for `bytes` at least. */
  async #zero(bytes: number): Promise<void> {
    await this.#ahead;
    const file = this.#file as FileHandle;
    while (this.#zeroedTo < this.#end + bytes + aheadBytes) {
      await writeAt(file, new Uint8Array(aheadBytes), this.#zeroedTo);
      this.#zeroedTo += aheadBytes;
    }
    this.#ahead = undefined;
  }

  async #begin(): Promise<void> {
    await this.#ahead;
    await this.#file?.close();
    this.#generation++;
    const path = pathOf(this.#folder, this.#generation);
    this.#file = await open(path, O_RDWR | O_CREAT | O_TRUNC | O_DSYNC, 0o600);
    this.#end = 0;
    for (const frame of encodePutFrames(this.#records)) {
      await writeAt(this.#file, frame, this.#end);
      this.#end += frame.length;
    }
    [this.#zeroedTo, this.#checkpointEnd] = [this.#end, this.#end];
    await syncFolder(this.#folder);
    for (const generation of await generationsOf(this.#folder))
      if (generation !== this.#generation) await rm(pathOf(this.#folder, generation));
  }

  async close(): Promise<void> {
    await this.#ahead;
    await this.#file?.close();
    this.#file = undefined;
  }
}

function pathOf(folder: string, generation: number): string {
  return join(folder, `${String(generation).padStart(12, '0')}.journal`);
}

/** The oldest first. */
async function generationsOf(folder: string): Promise<number[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{12}\.journal$/.test(name));
  return names.map((name) => Number.parseInt(name, 10)).sort((a, b) => a - b);
}

/** All of it, by as many calls as it takes: a file system that is nearly full takes less than it is given. */
export function writeAt({ fd }: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (done: number): void =>
      writeCalled(fd, bytes, done, bytes.length - done, at + done, (error, written) => {
        if (error) reject(error);
        else if (done + written < bytes.length) go(done + written);
        else resolve();
      });
    go(0);
  });
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync();
  await handle.close();
}
