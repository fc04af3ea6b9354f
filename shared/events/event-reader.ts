import { evtReader } from './evt-reader.ts';
import { jsonlReader } from './jsonl-reader.ts';
import { BRACE_OPEN, isBlank } from './reading/characters.ts';
import type { EventReader, ReaderOptions, ReadResult } from './reading/read-result.ts';

const SNIFFED_BYTES_MAX = 65_536;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * The reader for a file of this extension, with or without its point and in any case: `.evt`, `.jsonl`, `.ndjson`. For any
 * other the content decides: JSON lines when the first character that is no blank opens an object, else `.evt`.
 */
export function readEvents(extension: string, options: ReaderOptions = {}): EventReader {
  switch (extension.toLowerCase().replace(/^\./, '')) {
    case 'evt':
      return evtReader(options);
    case 'jsonl':
    case 'ndjson':
      return jsonlReader(options);
    default:
      return new SniffingReader(options);
  }
}

/** Holds back the first bytes until they tell the format, at most 64 KiB of them. */
class SniffingReader implements EventReader {
  readonly #options: ReaderOptions;
  #held: Uint8Array[] = [];
  #seen = 0;
  #reader: EventReader | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  write(chunk: Uint8Array): ReadResult[] {
    if (this.#reader) return this.#reader.write(chunk);
    this.#held.push(chunk.slice());
    const opensObject = this.#opensObject(chunk);
    return opensObject === undefined ? [] : this.#begin(opensObject);
  }

  end(): ReadResult[] {
    const results = this.#reader ? [] : this.#begin(false);
    return [...results, ...(this.#reader?.end() ?? [])];
  }

  /** Whether the first character that is no blank opens an object; undefined while none was seen. */
  #opensObject(chunk: Uint8Array): boolean | undefined {
    for (const byte of chunk) {
      if (this.#seen >= SNIFFED_BYTES_MAX) return false;
      const isMark = byte === BYTE_ORDER_MARK[this.#seen];
      this.#seen++;
      if (!isMark && !isBlank(byte)) return byte === BRACE_OPEN;
    }
    return undefined;
  }

  #begin(isJson: boolean): ReadResult[] {
    const reader = isJson ? jsonlReader(this.#options) : evtReader(this.#options);
    const held = this.#held;
    this.#held = [];
    this.#reader = reader;
    return held.flatMap((chunk) => reader.write(chunk));
  }
}
