import { Readable, Writable } from 'node:stream';
import { runCli } from '../../../cli/run-cli.ts';

export interface CepResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CepOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Whether standard output and error say that they are terminals. */
  readonly isTTY?: boolean;
}

/** Runs `cep` with these arguments in this process, with an environment of its own. */
export async function cep(args: readonly string[], { env = {}, stdin = '', isTTY = false }: CepOptions = {}): Promise<CepResult> {
  const stdout = new Captured(isTTY);
  const stderr = new Captured(isTTY);
  const exitCode = await runCli(args, { env: { ...env }, stdin: Readable.from([stdin]), stdout, stderr, colorDepth: 1 });
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

/** A stream that keeps what is written to it. */
export class Captured extends Writable {
  readonly isTTY: boolean;
  readonly #chunks: Buffer[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#chunks.push(chunk);
    callback();
  }
}
