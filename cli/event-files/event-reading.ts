import { evtReader } from '../../shared/events/evt-reader.ts';
import { jsonlReader } from '../../shared/events/jsonl-reader.ts';
import { asciiDecoder } from '../../shared/events/reading/ascii-decoder.ts';
import type { MovableReader, ReaderPosition, ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { EventEntries } from '../../worker/engine/fusion/event-entry.ts';
import { type ByteReader, createByteReader } from '../../worker/engine/reading/byte-reader.ts';

/** Where events go at once, for who need not see each of them. */
export interface FastPath {
  /** Events that have the expected layout enter here. */
  readonly entries: EventEntries;
  /** Takes everything else, in order with them. */
  readonly take: (result: ReadResult) => void;
}

/**
 * So many bytes become events that are all there at once: few enough for them to be gone when garbage is next collected. V8 takes objects
 * that it finds again for ones that stay, and keeps all that are made later where it seldom looks for garbage.
 */
export const EVENTS_BYTES_MAX = 65_536;

/** How the bytes of a file become events. */
export interface EventReading extends MovableReader {
  /** No more should be written at once. */
  readonly bytesAtOnceMax: number;
  /** Events that took the fast path: no result tells of them. */
  readonly entered: number;
}

export interface EventReadingOptions {
  readonly schemas?: EventSchemas | undefined;
  /** Field that says when an event happened: there is no fast path for such events. */
  readonly timeField?: string | undefined;
  readonly from?: ReaderPosition | undefined;
  /** Says which whole numbers are written as floats. */
  readonly markFloats?: boolean | undefined;
  readonly short?: FastPath | undefined;
}

/** From `from` on, else from the beginning. */
export function openReading(format: 'evt' | 'jsonl', { schemas, timeField, from, short, markFloats }: EventReadingOptions): EventReading {
  if (short && timeField === undefined) {
    const { entries, take: slow } = short;
    return new ShortReading(
      createByteReader(entries, { format, schemas: schemas ?? new EventSchemas([]), slow, decode: asciiDecoder(), ...(from && { from }) }),
    );
  }
  const options = { timeField, ...(schemas && { schemas }), ...(markFloats && { markFloats }) };
  const reader = format === 'evt' ? evtReader(options) : jsonlReader(options);
  if (from) reader.position = from;
  return new FullReading(reader);
}

class FullReading implements EventReading {
  readonly #reader: MovableReader;
  readonly entered = 0;
  readonly bytesAtOnceMax = EVENTS_BYTES_MAX;

  constructor(reader: MovableReader) {
    this.#reader = reader;
  }

  get position(): ReaderPosition {
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
  /** Events that enter at once are not there together. */
  readonly bytesAtOnceMax = Infinity;
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
