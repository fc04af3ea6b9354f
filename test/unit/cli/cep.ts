import { PassThrough, Readable } from 'node:stream';
import { runCli } from '../../../cli/run-cli.ts';

export interface CepResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CepOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Whether standard output and error say that they are terminals. */
  readonly isTTY?: boolean;
}

/** Runs `cep` with these arguments in this process, with an environment of its own. */
export async function cep(args: readonly string[], { env = {}, stdin = '', isTTY = false }: CepOptions = {}): Promise<CepResult> {
  const stdout = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const exitCode = await runCli(args, { env: { ...env }, stdin: Readable.from([stdin]), stdout, stderr, colorDepth: 1 });
  return { exitCode, stdout: textOf(stdout), stderr: textOf(stderr) };
}

function textOf(stream: PassThrough): string {
  const bytes: Buffer | null = stream.read();
  return bytes === null ? '' : bytes.toString('utf8');
}
