import cliProgress from 'cli-progress';

/** Work that is done sooner shows no bar. */
const DELAY_MS = 500;
const ERASE_LINE = '\r\u001b[K';
const ERASE_TO_END = '\u001b[K';
const COLUMNS_DEFAULT = 80;

/** What is needed of a terminal. */
export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
}

/** A bar on the last line of a terminal, drawn once the work takes longer than a moment. */
export class ProgressBar {
  readonly #terminal: Terminal;
  readonly #begun = performance.now();
  #bar: cliProgress.SingleBar | undefined;

  constructor(terminal: Terminal) {
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
    const options = {
      terminal: drawing(this.#terminal),
      format: '{bar} {percentage}% | {eta_formatted} left',
      barCompleteChar: '#',
      barIncompleteChar: '.',
      forceRedraw: true,
      gracefulExit: false,
    };
    const bar = new cliProgress.SingleBar(options);
    bar.start(total, value);
    return bar;
  }
}

/**
 * A terminal as the bar draws on it. It draws where the cursor is and moves it nowhere else: results are written between
 * two drawings, so a position that was remembered would be that of something else.
 */
function drawing(terminal: Terminal): object {
  const leave = (): void => undefined;
  const columns = (): number => terminal.columns ?? COLUMNS_DEFAULT;
  return {
    cursorSave: leave,
    cursorRestore: leave,
    cursor: leave,
    lineWrapping: leave,
    newline: leave,
    cursorTo: () => terminal.write('\r'),
    clearRight: () => terminal.write(ERASE_TO_END),
    write: (text: string) => terminal.write(text.slice(0, columns())),
    isTTY: () => true,
    getWidth: columns,
  };
}
