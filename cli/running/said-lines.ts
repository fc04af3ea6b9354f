import type { Logger } from '../../shared/telemetry/logger.ts';
import type { ProgramLogLine } from '../../worker/runtime/service.ts';
import { visible } from '../event-text.ts';

/** How many lines are asked for at a time: as many as a pipeline keeps. */
const LINES_MAX = 1_000;

/** Writes to the log what a program says with `.log` and `.print`, and what it could not evaluate, each line once. */
export class SaidLines {
  readonly #newest: (limit: number) => readonly ProgramLogLine[];
  readonly #logger: Logger;
  #last = 0;

  constructor(newest: (limit: number) => readonly ProgramLogLine[], logger: Logger) {
    this.#newest = newest;
    this.#logger = logger;
  }

  /** Those since the last time. A program may say more in between than is kept: how many lines are missing is said. */
  write(): void {
    if ((this.#newest(1)[0]?.sequence ?? 0) === this.#last) return;
    const lines = this.#newest(LINES_MAX).filter(({ sequence }) => sequence > this.#last);
    const missing = (lines[0]?.sequence ?? 0) - this.#last - 1;
    if (missing > 0) this.#logger.log('warn', 'Lines of the program left out: it says more than can be shown', { lines: missing });
    for (const line of lines) this.#writeLine(line);
    this.#last = lines.at(-1)?.sequence ?? this.#last;
  }

  #writeLine({ kind, level, stream, message, dataJson }: ProgramLogLine): void {
    if (kind === 'tap' || kind === 'counter') return;
    const data = kind === 'print' || dataJson === 'null' ? {} : { data: dataJson };
    this.#logger.log(level, visible(message), { stream, ...data });
  }
}
