import { EvtScanner } from './reading/evt-scanner.ts';
import { type LineEvent, type LineFormat, LineReader } from './reading/line-reader.ts';
import type { MovableReader, ReaderOptions } from './reading/read-result.ts';
import type { ValueProblem } from './reading/scan-problem.ts';

/**
 * A reader of `.evt` files: `@<offset> Type { field: value }`, `Type(value, ..)`, JSON lines and `BATCH <offset>`.
 * An event's `fallbackTime` is its offset from the start of the file, in milliseconds.
 */
export function evtReader(options: ReaderOptions = {}): MovableReader {
  return new LineReader(new EvtFormat(options), options.markFloats ?? false);
}

class EvtFormat implements LineFormat {
  readonly #scanner: EvtScanner;

  constructor(options: ReaderOptions) {
    this.#scanner = new EvtScanner(options);
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

  get time(): number {
    return this.#scanner.offset;
  }

  set time(offset: number) {
    this.#scanner.offset = offset;
  }

  event(text: string, start: number, end: number): LineEvent | undefined {
    return this.#scanner.event(text, start, end);
  }

  fallbackTime(): number {
    return this.#scanner.offset;
  }

  isComment(text: string): boolean {
    return /^[ \t\r]*(?:#|\/\/)/.test(text);
  }
}
