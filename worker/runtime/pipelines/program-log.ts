import { limits } from '../../../shared/limits.ts';
import type { ProgramLogLine } from '../service.ts';
import type { SentLogEntry } from '../threads/messages.ts';

const LINES_MAX = 1_000;

/** The newest lines that a program said, bounded in number and characters. */
export class ProgramLog {
  #lines: ProgramLogLine[] = [];
  #sequence = 0;
  #chars = 0;

  add(entries: readonly SentLogEntry[]): void {
    const time = Date.now();
    for (const entry of entries) {
      this.#lines.push({ ...entry, sequence: ++this.#sequence, time });
      this.#chars += sizeOf(entry);
    }
    // Dropped in large pieces, so that a talkative program costs little.
    if (this.#lines.length > 2 * LINES_MAX || this.#chars > 2 * limits.programLogCharsMax) this.#drop();
  }

  /** Oldest first. */
  newest(limit: number): readonly ProgramLogLine[] {
    this.#drop();
    return limit <= 0 ? [] : this.#lines.slice(-limit);
  }

  #drop(): void {
    let from = Math.max(0, this.#lines.length - LINES_MAX);
    let chars = this.#lines.slice(from).reduce((sum, line) => sum + sizeOf(line), 0);
    for (; chars > limits.programLogCharsMax; from++) chars -= sizeOf(this.#lines[from] as ProgramLogLine);
    this.#lines = this.#lines.slice(from);
    this.#chars = chars;
  }
}

function sizeOf({ message, dataJson }: SentLogEntry): number {
  return message.length + dataJson.length;
}
