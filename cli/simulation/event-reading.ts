import { readEvents } from '../../shared/events/event-reader.ts';
import { asciiDecoder } from '../../shared/events/reading/ascii-decoder.ts';
import type { EventReader, ReaderPosition, ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { EventEntries } from '../../worker/engine/fusion/event-entry.ts';
import { type ByteReader, createByteReader } from '../../worker/engine/reading/byte-reader.ts';

/** Where events go at once, for who need not see each of them. */
export interface ShortWay {
  /** Events that are as foretold enter here. */
  readonly entries: EventEntries;
  /** Takes everything else, in order with them. */
  readonly take: (result: ReadResult) => void;
}

/** How the bytes of a file become events. */
export interface EventReading extends EventReader {
  /** Behind the last whole line; undefined for a reader that does not know. One that does can be moved between two lines. */
  get position(): ReaderPosition | undefined;
  set position(position: ReaderPosition);
  /** Events that went the short way: no result tells of them. */
  readonly entered: number;
}

export interface EventReadingOptions {
  readonly schemas?: EventSchemas | undefined;
  readonly from?: ReaderPosition | undefined;
  readonly short?: ShortWay | undefined;
}

/** `format` is an extension, with or without its point; the short way is for `evt` and `jsonl` alone. */
export function openReading(format: string, { schemas, from, short }: EventReadingOptions): EventReading {
  if (short && (format === 'evt' || format === 'jsonl')) {
    const { entries, take: slow } = short;
    return new ShortReading(
      createByteReader(entries, { format, schemas: schemas ?? new EventSchemas([]), slow, decode: asciiDecoder(), ...(from && { from }) }),
    );
  }
  const reader = readEvents(format, schemas === undefined ? {} : { schemas });
  if (from && 'position' in reader) reader.position = from;
  return new FullReading(reader);
}

class FullReading implements EventReading {
  readonly #reader: EventReader & { position?: ReaderPosition };
  readonly entered = 0;

  constructor(reader: EventReader) {
    this.#reader = reader;
  }

  get position(): ReaderPosition | undefined {
    return this.#reader.position;
  }

  set position(position: ReaderPosition) {
    this.#reader.position = position;
  }

  write(chunk: Uint8Array): ReadResult[] {
    return this.#reader.write(chunk);
  }

  end(): ReadResult[] {
    return this.#reader.end();
  }
}

class ShortReading implements EventReading {
  readonly #reader: ByteReader;

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  get position(): ReaderPosition {
    return this.#reader.position;
  }

  set position(position: ReaderPosition) {
    this.#reader.position = position;
  }

  get entered(): number {
    return this.#reader.entered;
  }

  write(chunk: Uint8Array): ReadResult[] {
    this.#reader.read(chunk);
    return [];
  }

  end(): ReadResult[] {
    this.#reader.end();
    return [];
  }
}
