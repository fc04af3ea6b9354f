import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';

const bin = fileURLToPath(new URL('../../../cli/bin.mjs', import.meta.url));

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** A process `cep` on a terminal of its own, and what that shows. */
export class TerminalProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly #screen: InstanceType<typeof xterm.Terminal>;
  readonly #looks = new Set<() => void>();
  #device: string | undefined;

  constructor(args: readonly string[], { columns, rows }: TerminalSize) {
    this.#screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    // Where CI is said, the packages that draw would show nothing but the end.
    const { CI: _, NO_COLOR: __, ...env } = process.env;
    const command = `tty; stty cols ${columns} rows ${rows}; exec ${[process.execPath, bin, ...args].map((part) => `'${part}'`).join(' ')}`;
    this.child = spawn('script', ['-qefc', command, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
    });
    this.child.stdout?.on('data', (chunk: Buffer) => this.#take(chunk));
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
  }

  /** What stands on the screen, a line each. */
  get text(): string {
    const { buffer, rows } = this.#screen;
    return Array.from(
      { length: rows },
      (_, row) => buffer.active.getLine(buffer.active.viewportY + row)?.translateToString(true) ?? '',
    ).join('\n');
  }

  /** Whether the screen that was there before is shown again. */
  get isBack(): boolean {
    return this.#screen.buffer.active.type === 'normal';
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  paste(text: string): void {
    this.type(`\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`);
  }

  resize({ columns, rows }: TerminalSize): void {
    if (this.#device === undefined) throw new Error('the terminal has not said its name yet');
    this.#screen.resize(columns, rows);
    execFileSync('stty', ['-F', this.#device, 'cols', String(columns), 'rows', String(rows)]);
  }

  /** Resolves when the screen is so; looked at again whenever something is drawn. Rejects when the process ends first. */
  async until(condition: (text: string) => boolean): Promise<string> {
    const holds = new Promise<string>((resolve) => {
      const look = (): void => {
        const { text } = this;
        if (!condition(text)) return;
        this.#looks.delete(look);
        resolve(text);
      };
      this.#looks.add(look);
      look();
    });
    const ended = this.ended.then((code) => {
      throw new Error(`cep ended with ${code} before that:\n${this.text}`);
    });
    return await Promise.race([holds, ended]);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  #take(chunk: Buffer): void {
    this.#device ??= /\/dev\/pts\/\d+/.exec(chunk.toString())?.[0];
    this.#screen.write(chunk, () => {
      for (const look of this.#looks) look();
    });
  }
}
