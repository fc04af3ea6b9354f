import { BufferedOutput } from '../buffered-output.ts';
import { type Colors, colorsFor } from '../colors.ts';
import type { CliContext } from '../context.ts';
import { ProgressBar } from './progress-bar.ts';

/** Where a view writes. */
export interface Display {
  readonly out: Colors;
  readonly err: Colors;
  /** Writes to standard output, as it is. */
  result(text: string): void;
  /** The same for whole lines as UTF-8. */
  resultBytes(lines: Uint8Array): void;
  /** Writes whole lines to standard error. */
  note(text: string): void;
  progress(read: number, size: number | undefined): void;
  endProgress(): void;
  flush(): void;
  ready(): Promise<void>;
  written(): Promise<void>;
}

/** Standard output and standard error of a simulation, in one order although the first is buffered. */
export class Screen implements Display {
  readonly out: Colors;
  readonly err: Colors;
  readonly #results: BufferedOutput;
  readonly #stderr: CliContext['stderr'];
  readonly #bar: ProgressBar | undefined;

  constructor({ stdout, stderr, env }: CliContext, { hasProgress }: { readonly hasProgress: boolean }) {
    this.out = colorsFor(stdout, env);
    this.err = colorsFor(stderr, env);
    this.#stderr = stderr;
    this.#bar = hasProgress && 'isTTY' in stderr && stderr.isTTY === true ? new ProgressBar(stderr) : undefined;
    this.#results = new BufferedOutput(stdout, () => this.#bar?.clear());
  }

  result(text: string): void {
    this.#results.write(text);
  }

  resultBytes(lines: Uint8Array): void {
    this.#results.writeBytes(lines);
  }

  note(text: string): void {
    this.#results.flush();
    this.#bar?.clear();
    this.#stderr.write(`${text}\n`);
  }

  progress(read: number, size: number | undefined): void {
    if (size !== undefined) this.#bar?.update(read, size);
  }

  endProgress(): void {
    this.#bar?.stop();
  }

  flush(): void {
    this.#results.flush();
  }

  ready(): Promise<void> {
    return this.#results.ready();
  }

  written(): Promise<void> {
    return this.#results.written();
  }
}
