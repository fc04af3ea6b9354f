import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CepError } from '../../shared/errors/error.ts';

/** Few enough to stay in the processor's cache while they are read. */
const CHUNK_BYTES = 262_144;
/** Behind each chunk, so that who reads several bytes at a time may read beyond its end. */
const PADDING_BYTES = 16;
const NOTHING = new Uint8Array();
/** A larger file is not read ahead: it would fill the memory for nothing. */
const PRELOAD_BYTES_MAX = 2 ** 31;

export interface EventBytesOptions {
  /** Reads the whole file before the first chunk is asked for, if it is a file and no larger than 2 GiB. */
  readonly preload: boolean;
  /** Byte to begin at. */
  readonly position?: number;
}

/** The bytes of an event file, in chunks. Must be closed. */
export class EventBytes {
  readonly #path: string;
  readonly #file: number;
  readonly #ahead: Uint8Array[] = [];
  readonly #chunk = newChunk();
  readonly #isSeekable: boolean;
  #next = 0;
  #readPosition: number;
  /** Bytes of the file when it was opened; undefined when it is no file, as a pipe. */
  readonly size: number | undefined;

  /** @throws CepError `file_not_found` or `io_error` */
  constructor(path: string, { preload, position = 0 }: EventBytesOptions) {
    this.#path = path;
    this.#readPosition = position;
    this.#file = this.#attempt(() => openSync(path, 'r'));
    const stat = this.#attempt(() => fstatSync(this.#file));
    this.#isSeekable = stat.isFile();
    this.size = stat.isFile() ? stat.size : undefined;
    if (preload && this.size !== undefined && this.size <= PRELOAD_BYTES_MAX) this.#readAhead();
  }

  /** The next bytes, valid until the next call; undefined at the end. Of what is not read ahead, at most so many. */
  read(most = CHUNK_BYTES): Uint8Array | undefined {
    const chunk = this.#ahead[this.#next];
    if (chunk === undefined) return this.#readChunk(most < CHUNK_BYTES ? this.#chunk.subarray(0, most) : this.#chunk);
    this.#ahead[this.#next++] = NOTHING; // It is not needed any more.
    return chunk;
  }

  /** Goes on at this byte of a file. What was read ahead is forgotten. */
  moveTo(position: number): void {
    this.#ahead.length = 0;
    this.#next = 0;
    this.#readPosition = position;
  }

  close(): void {
    closeSync(this.#file);
  }

  #readAhead(): void {
    for (let chunk = this.#readChunk(newChunk()); chunk; chunk = this.#readChunk(newChunk())) this.#ahead.push(chunk);
  }

  #readChunk(into: Uint8Array): Uint8Array | undefined {
    const length = this.#attempt(() => readSync(this.#file, into, 0, into.length, this.#isSeekable ? this.#readPosition : null));
    this.#readPosition += length;
    return length === 0 ? undefined : into.subarray(0, length);
  }

  #attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (cause) {
      const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
      if (reason === 'ENOENT') throw new CepError('file_not_found', `event file '${this.#path}' not found`, { cause });
      const why = reason === 'EISDIR' ? 'it is a directory' : reason === 'EACCES' ? 'permission denied' : reason;
      throw new CepError('io_error', `event file '${this.#path}' cannot be read: ${why}`, { cause });
    }
  }
}

function newChunk(): Uint8Array {
  return new Uint8Array(CHUNK_BYTES + PADDING_BYTES).subarray(0, CHUNK_BYTES);
}
