import { closeSync, openSync, readSync } from 'node:fs';
import { extname } from 'node:path';
import { CepError } from '../errors/error.ts';
import { readEvents } from './event-reader.ts';
import type { ReaderOptions, ReadResult } from './reading/read-result.ts';

const CHUNK_BYTES = 65_536;

/**
 * What an event file holds, line by line, read as it is asked for: memory does not grow with the file. The extension
 * decides the format as in `readEvents`. The file is closed when the loop over the results ends, however it ends.
 * @throws CepError `file_not_found` or `io_error`
 */
export function* readEventFile(path: string, options: ReaderOptions = {}): Generator<ReadResult, void, undefined> {
  const reader = readEvents(extname(path), options);
  const file = attempt(path, () => openSync(path, 'r'));
  try {
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      const length = attempt(path, () => readSync(file, chunk, 0, CHUNK_BYTES, null));
      if (length === 0) break;
      for (const result of reader.write(chunk.subarray(0, length))) yield result;
    }
    yield* reader.end();
  } finally {
    closeSync(file);
  }
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
    if (reason === 'ENOENT') throw new CepError('file_not_found', `event file '${path}' not found`, { cause });
    throw new CepError('io_error', `event file '${path}' cannot be read: ${reason}`, { cause });
  }
}
