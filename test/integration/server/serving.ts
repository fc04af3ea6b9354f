import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropStreamClients } from '../../clients/event-stream-client.ts';
import { dropWebSocketClients } from '../../clients/websocket-client.ts';
import { CepProcess } from '../cli/cep-process.ts';

/** Of the test file that runs: files share this module (`end-of-test.ts`). */
let folder: string | undefined;
const running: CepProcess[] = [];

/** What a test has started and not ended. */
export function endServing(): void {
  dropStreamClients();
  dropWebSocketClients();
  for (const cep of running.splice(0)) cep.kill('SIGKILL');
}

export function removeFolder(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
}

/** A path in a folder of the test file, removed after its tests. */
export function path(name: string): string {
  folder ??= mkdtempSync(join(tmpdir(), 'cep-server-'));
  return join(folder, name);
}

export function write(name: string, text: string, mode = 0o600): string {
  writeFileSync(path(name), text);
  chmodSync(path(name), mode);
  return path(name);
}

/** Runs `cep`; what still runs after a test is killed. */
export function cep(args: readonly string[], env: Readonly<Record<string, string>> = {}): CepProcess {
  const started = new CepProcess(args, { env });
  running.push(started);
  return started;
}

export interface Served {
  readonly cep: CepProcess;
  readonly url: string;
}

/** A server that is ready, on a port of its own. */
export async function serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const config = write('json.yaml', 'logging:\n  format: json\n  level: debug\n');
  const started = cep(['--config', config, 'server', '--port', '0', ...args], env);
  await started.until(({ stderr }) => stderr.includes('"Server ready"'));
  const url = logOf(started).find(({ message }) => message === 'Server listening')?.['url'];
  return { cep: started, url: String(url) };
}

export function logOf({ stderr }: CepProcess): Record<string, unknown>[] {
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** A program that alerts above 30. */
export const program = 'event Reading:\n    value: float\n\nstream Hot = Reading.where(value > 30).emit(value: value)\n';

export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, unknown>;
}
