import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../../cli/bin.mjs', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CepProcessOptions {
  readonly readsOutput?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** What is run. @default the command of this checkout */
  readonly script?: string;
}

/** A process `cep` with pipes for its output. */
export class CepProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  readonly #waiting = new Set<() => void>();

  constructor(args: readonly string[], { readsOutput = true, env = {}, script = bin }: CepProcessOptions = {}) {
    this.child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    this.child.stdout?.on('data', (chunk) => this.#take('stdout', chunk));
    this.child.stderr?.on('data', (chunk) => this.#take('stderr', chunk));
    if (!readsOutput) this.child.stdout?.destroy();
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }));
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves when the condition holds; looked at again with each piece of output. Rejects when the process ends first. */
  async until(condition: (seen: this) => boolean): Promise<void> {
    const holds = new Promise<void>((resolve) => {
      const look = (): void => {
        if (!condition(this)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
    const ended = this.ended.then(() => {
      if (!condition(this)) throw new Error(`cep ended before that:\n${this.stdout}\n${this.stderr}`);
    });
    await Promise.race([holds, ended]);
  }

  #take(name: 'stdout' | 'stderr', chunk: Buffer): void {
    this[name] += chunk;
    for (const look of [...this.#waiting]) look();
  }
}
