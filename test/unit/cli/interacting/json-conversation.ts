import { PassThrough, Writable } from 'node:stream';
import { runCli } from '../../../../cli/run-cli.ts';

export interface Answer {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** `cep interactive --json` in this process, talked to line by line. */
export class JsonConversation {
  readonly answers: Answer[] = [];
  readonly exitCode: Promise<number>;
  stderr = '';
  readonly #stdin = new PassThrough();
  readonly #waiting = new Set<() => void>();
  #rest = '';

  constructor(...args: readonly string[]) {
    const stdout = new Writable({ write: (chunk, _, done) => done(this.#take(String(chunk))) });
    const stderr = new Writable({
      write: (chunk, _, done) => {
        this.stderr += chunk;
        done();
      },
    });
    this.exitCode = runCli(['interactive', '--json', ...args], { env: {}, stdin: this.#stdin, stdout, stderr, colorDepth: 1 });
  }

  /** Sends a command and gives the first answer of this type that comes then. */
  async ask(command: object, type: string): Promise<Answer> {
    const before = this.answers.length;
    this.write(`${JSON.stringify(command)}\n`);
    return await this.next(type, before);
  }

  write(text: string | Uint8Array): void {
    this.#stdin.write(text);
  }

  /** The first answer of this type among those behind the first `after`; waits for it. */
  async next(type: string, after = 0): Promise<Answer> {
    for (;;) {
      const found = this.answers.slice(after).find((answer) => answer.type === type);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  of(type: string): readonly Answer[] {
    return this.answers.filter((answer) => answer.type === type);
  }

  /** The input ends; gives the exit code. */
  end(): Promise<number> {
    this.#stdin.end();
    return this.exitCode;
  }

  #take(text: string): undefined {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.answers.push(...lines.map((line) => JSON.parse(line)));
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
