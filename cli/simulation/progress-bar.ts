import cliProgress from 'cli-progress';

/** Work that is done sooner shows no bar. */
const DELAY_MS = 500;
const ERASE_LINE = '\r\u001b[K';

/** A bar on the last line of a terminal, drawn once the work takes longer than a moment. */
export class ProgressBar {
  readonly #terminal: NodeJS.WritableStream;
  readonly #begun = performance.now();
  #bar: cliProgress.SingleBar | undefined;

  constructor(terminal: NodeJS.WritableStream) {
    this.#terminal = terminal;
  }

  update(value: number, total: number): void {
    if (this.#bar) this.#bar.update(value);
    else if (performance.now() - this.#begun > DELAY_MS) this.#bar = this.#start(value, total);
  }

  /** Takes the bar off, so that a line can be written; the next update draws it again. */
  clear(): void {
    if (this.#bar) this.#terminal.write(ERASE_LINE);
  }

  stop(): void {
    this.#bar?.stop();
    this.clear();
    this.#bar = undefined;
  }

  #start(value: number, total: number): cliProgress.SingleBar {
    const bar = new cliProgress.SingleBar({
      stream: this.#terminal,
      format: '{bar} {percentage}% | {eta_formatted} left',
      barCompleteChar: '#',
      barIncompleteChar: '.',
      forceRedraw: true,
      gracefulExit: false,
    });
    bar.start(total, value);
    return bar;
  }
}
