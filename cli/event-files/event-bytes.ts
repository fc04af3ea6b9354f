import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CepError } from '../../shared/errors/error.ts';
import type { UnreadableLine } from '../../shared/events/reading/read-result.ts';

/** Few enough to stay in the processor's cache while they are read. */
const CHUNK_BYTES = 262_144;
/** Behind each chunk, so that who reads several bytes at a time may read beyond its end. */
const PADDING_BYTES = 16;
const NOTHING = new Uint8Array();
/** A larger file is not read ahead: it gives the same events as fast while it is read, and does not fill the memory. */
const PRELOAD_BYTES_MAX = 2 ** 26;

export interface EventBytesOptions {
  /** Reads the whole file before the first chunk is asked for, if it is a file and no larger than 64 MiB. */
  readonly preload: boolean;
  /** Byte to begin at. */
  readonly position?: number;
}

/** The bytes of events, in chunks. Must be closed. */
export interface EventBytes {
  /** Bytes of the file when it was opened; undefined when that is not known, as of a pipe. */
  readonly size: number | undefined;
  /** Of those, how many have been read; undefined when it is as many as were given. */
  readonly consumed?: number | undefined;
  /** Resolves when `read` may be asked. @throws CepError `io_error` and what the form of the bytes has of its own */
  fill(): Promise<void>;
  /** The next bytes, valid until the next call; undefined at the end. Of a file that is read as it is, at most so many. */
  read(most?: number): Uint8Array | undefined;
  /** What is wrong with lines that are not among the bytes, since this was asked last. */
  problems?(): readonly UnreadableLine[];
  /** Goes on at this byte of a file that is read as it is. */
  moveTo(position: number): void;
  close(): void;
}

/** The bytes of a file as they are. */
export class FileBytes implements EventBytes {
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

  async fill(): Promise<void> {
    // A file can be read at any time.
  }

  read(most = CHUNK_BYTES): Uint8Array | undefined {
    const chunk = this.#ahead[this.#next];
    if (chunk === undefined) return this.#readChunk(this.#chunk.subarray(0, most));
    if (chunk.length > most) {
      this.#ahead[this.#next] = chunk.subarray(most);
      return chunk.subarray(0, most);
    }
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
      throw unreadableFile(this.#path, cause);
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  Z_DATA_ERROR: 'it is no gzip file, or damaged',
  Z_BUF_ERROR: 'the gzip file ends too soon',
};

/** What the system, or the form of the bytes, says of a file that cannot be read. */
export function unreadableFile(path: string, cause: unknown): CepError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
  if (reason === 'ENOENT') return new CepError('file_not_found', `event file '${path}' not found`, { cause });
  return new CepError('io_error', `event file '${path}' cannot be read: ${REASONS[reason] ?? reason}`, { cause });
}

function newChunk(): Uint8Array {
  return new Uint8Array(CHUNK_BYTES + PADDING_BYTES).subarray(0, CHUNK_BYTES);
}
