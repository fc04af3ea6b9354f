import type { LogEntry } from '../../worker/engine/engine.ts';
import { visible } from '../event-text.ts';

/** Failures of one stream that are shown one by one. */
export const SHOWN_MAX = 10;

/** Shows the first evaluation failures of each stream; all of them are counted by the streams. */
export class FailureLog {
  readonly #show: (text: string) => void;
  readonly #seen = new Map<string, number>();

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  add({ stream, message }: LogEntry): void {
    const count = (this.#seen.get(stream) ?? 0) + 1;
    this.#seen.set(stream, count);
    if (count <= SHOWN_MAX) this.#show(`failure in stream ${visible(stream)}: ${visible(message)}`);
    if (count === SHOWN_MAX) this.#show(`further failures in stream ${visible(stream)} are only counted`);
  }
}
