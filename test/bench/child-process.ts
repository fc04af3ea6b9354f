import { spawn } from 'node:child_process';
import { basename } from 'node:path';

/** Writes the peak of a process's memory to its fourth stream when it ends. */
const PEAK_MEMORY = new URL('processes/peak-memory.mjs', import.meta.url).href;

export interface Finished {
  /** From the start of the process to its end. */
  readonly wallMs: number;
  /** Empty when standard output went to a file. */
  readonly stdout: string;
  readonly peakMb: number;
}

export interface ChildOptions {
  /** File descriptor that takes standard output. */
  readonly stdout?: number;
  /** Of Node itself. */
  readonly flags?: readonly string[];
}

/** Runs a script of Node to its end. Rejects, with what it said, when it fails. */
export function runChild(script: string, args: readonly string[], { stdout, flags = [] }: ChildOptions = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, [...flags, '--import', PEAK_MEMORY, script, ...args], {
      stdio: ['ignore', stdout ?? 'pipe', 'pipe', 'pipe'],
      env: environment(),
    });
    const texts = [1, 2, 3].map((stream) => textOf(child.stdio[stream] as NodeJS.ReadableStream | null));
    child.on('error', reject);
    child.on('close', (code) => {
      const wallMs = performance.now() - started;
      const [out = '', error = '', peakKb = ''] = texts.map((text) => text());
      if (code === 0) resolve({ wallMs, stdout: out, peakMb: Number(peakKb) / 1024 });
      else reject(new Error(`${basename(script)} ${args.join(' ')} ended with ${code}\n${error}`));
    });
  });
}

/** What the machine adds to every process of Node is not measured: more certificates to read take longer than a start. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...env } = process.env;
  return env;
}

/** What one script of ours prints: one JSON value. */
export async function runForJson<T>(
  script: string,
  args: readonly string[],
  options?: ChildOptions,
): Promise<Finished & { readonly data: T }> {
  const finished = await runChild(script, args, options);
  return { ...finished, data: JSON.parse(finished.stdout) as T };
}

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
