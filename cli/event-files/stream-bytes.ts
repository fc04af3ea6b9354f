import { createReadStream, type ReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CepError, invariant } from '../../shared/errors/error.ts';
import type { UnreadableLine } from '../../shared/events/reading/read-result.ts';
import { csvLines } from './csv-lines.ts';
import { type EventBytes, unreadableFile } from './event-bytes.ts';
import { EVENTS_BYTES_MAX } from './event-reading.ts';
import { beginsAsGzip, type EventSourceOptions, STANDARD_INPUT, sourceName } from './event-source.ts';

/** As many as make events that are all there at once. */
const CHUNK_BYTES = EVENTS_BYTES_MAX;
const NOTHING = new Uint8Array();

export interface StreamBytesOptions extends Omit<EventSourceOptions, 'format'> {
  readonly isCsv: boolean;
}

/**
 * The bytes of events that come as they come, or are made of those of a file: standard input, a pipe, what stands in a gzip file, CSV
 * as lines of JSON. Memory is bounded by some chunks, whatever a compressed file holds.
 */
export class StreamBytes implements EventBytes {
  readonly size: number | undefined;
  readonly #path: string;
  readonly #file: ReadStream | undefined;
  readonly #input: Readable;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #problems: UnreadableLine[] = [];
  #chunk: Uint8Array | undefined;
  #hasEnded = false;
  #filling: Promise<void> | undefined;

  constructor(path: string, { stdin, isCsv, schemas, eventType }: StreamBytesOptions) {
    this.#path = sourceName(path);
    this.#file = path === STANDARD_INPUT ? undefined : createReadStream(path, { highWaterMark: CHUNK_BYTES });
    this.#input = this.#file ?? stdin ?? process.stdin;
    this.#input.on('error', () => undefined); // Whoever reads the chunks is told of it.
    const stat = this.#file && statSync(path, { throwIfNoEntry: false });
    this.size = stat?.isFile() ? stat.size : undefined;
    const chunks = uncompressed(this.#input);
    const problem = (line: UnreadableLine): void => void this.#problems.push(line);
    this.#chunks = isCsv ? csvLines(chunks, { path, schemas, eventType, problem }) : chunks;
  }

  get consumed(): number | undefined {
    return this.#file?.bytesRead;
  }

  /** One at a time; asked again while it is under way it gives the same. */
  fill(): Promise<void> {
    if (this.#chunk !== undefined || this.#hasEnded) return Promise.resolve();
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #fill(): Promise<void> {
    try {
      const { done, value } = await this.#chunks.next();
      if (done) this.#hasEnded = true;
      else this.#chunk = value;
    } catch (error) {
      throw error instanceof CepError ? error : unreadableFile(this.#path, error);
    }
  }

  read(): Uint8Array | undefined {
    invariant(this.#chunk !== undefined || this.#hasEnded, 'bytes are asked for before they are there');
    const chunk = this.#chunk;
    this.#chunk = undefined;
    return chunk;
  }

  problems(): readonly UnreadableLine[] {
    const problems = this.#problems;
    if (problems.length > 0) this.#problems = [];
    return problems;
  }

  moveTo(): void {
    invariant(false, 'bytes that come as they come cannot be read from another position');
  }

  close(): void {
    this.#input.destroy();
  }
}

/** The bytes as they are, or what they hold when they begin as gzip. */
async function* uncompressed(input: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Uint8Array | string>;
  let start: Uint8Array = NOTHING;
  while (start.length < 2) {
    const { done, value } = await chunks.next();
    if (done) break;
    start = Buffer.concat([start, bytesOf(value)]);
  }
  const whole = resumed(start, chunks);
  if (!beginsAsGzip(start)) yield* whole;
  else yield* pipeline(whole, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
}

async function* resumed(start: Uint8Array, chunks: AsyncIterator<Uint8Array | string>): AsyncGenerator<Uint8Array, void, undefined> {
  if (start.length > 0) yield start;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield bytesOf(next.value);
}

function bytesOf(chunk: Uint8Array | string): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
