import type { ProgramLogLine } from '../service.ts';
import type { SentLogEntry } from '../threads/messages.ts';

const LINES_MAX = 1_000;

/** The newest lines that a program said. */
export class ProgramLog {
  readonly #lines: ProgramLogLine[] = [];
  #sequence = 0;

  add(entries: readonly SentLogEntry[]): void {
    const time = Date.now();
    for (const entry of entries) this.#lines.push({ ...entry, sequence: ++this.#sequence, time });
    // Dropped in large pieces, so that a talkative program costs little.
    if (this.#lines.length > 2 * LINES_MAX) this.#lines.splice(0, this.#lines.length - LINES_MAX);
  }

  /** Oldest first. */
  newest(limit: number): readonly ProgramLogLine[] {
    const count = Math.min(limit, LINES_MAX);
    return count <= 0 ? [] : this.#lines.slice(-count);
  }
}
