import { JsonEventScanner } from './reading/json-event-scanner.ts';
import { type LineEvent, type LineFormat, LineReader } from './reading/line-reader.ts';
import type { MovableReader, ReaderOptions } from './reading/read-result.ts';
import type { ValueProblem } from './reading/scan-problem.ts';
import { EventSchemas } from './schema.ts';

/**
 * A reader of JSON lines: one object per line, `event_type` (or `type`) and fields, flat or under `data`, and optionally
 * `timestamp`. The `fallbackTime` of an event without a time is that of the line before, 0 at first.
 */
export function jsonlReader(options: ReaderOptions = {}): MovableReader {
  return new LineReader(new JsonlFormat(options), options.markFloats ?? false);
}

class JsonlFormat implements LineFormat {
  readonly #scanner: JsonEventScanner;
  readonly #schemas: EventSchemas;
  time = 0;

  constructor(options: ReaderOptions) {
    this.#scanner = new JsonEventScanner(options);
    this.#schemas = options.schemas ?? new EventSchemas([]);
  }

  get problem(): ValueProblem | undefined {
    return this.#scanner.problem;
  }

  get typeSoFar(): string {
    return this.#scanner.typeSoFar;
  }

  get wholeFloats(): readonly string[] {
    return this.#scanner.wholeFloats;
  }

  get unknownMembers(): readonly string[] {
    return this.#scanner.unknownMembers;
  }

  event(text: string, start: number, end: number): LineEvent | undefined {
    return this.#scanner.lineEvent(text, start, end);
  }

  fallbackTime({ type, fields, timestamp }: LineEvent): number {
    this.time = timestamp ?? this.#schemas.ownTime(type, fields) ?? this.time;
    return this.time;
  }

  isComment(): boolean {
    return false;
  }
}
