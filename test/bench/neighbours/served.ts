import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const serverKey = 'the-key-of-the-bench-server';

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Asks on behalf of one tenant. */
export type Ask = (method: string, path: string, body?: unknown, signal?: AbortSignal) => Promise<Reply>;

export interface Served {
  readonly url: string;
  tenant(name: string): Promise<{ readonly key: string; readonly ask: Ask }>;
  /** The exit code of a server that has ended by itself. */
  readonly ended: () => number | null | undefined;
  close(): Promise<void>;
}

/** The built server in a process of its own, with a state directory that goes with it. */
export async function serve(): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'cep-neighbours-'));
  const port = await freePort();
  const args = [main, 'server', '--port', String(port), '--state-dir', join(folder, 'state'), '--tenant-networks', '127.0.0.0/8'];
  const server = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'ignore'], env: { CEP_API_KEY: serverKey } });
  let code: number | null | undefined;
  const exited = new Promise<void>((resolve) => {
    server.on('exit', (exitCode) => {
      code = exitCode;
      resolve();
    });
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await isReady(url))) await sleep(50);
  const admin = askWith(url, serverKey);
  return {
    url,
    tenant: async (name) => {
      const key: string = JSON.parse((await admin('POST', '/api/v1/tenants', { name, plan: 'default' })).text).api_key;
      return { key, ask: askWith(url, key) };
    },
    ended: () => code,
    close: async () => {
      server.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Asks the server with this key. */
export function askWith(url: string, key: string): Ask {
  return async (method, path, body, signal) => {
    const text = typeof body === 'string' ? body : body && JSON.stringify(body);
    const response = await fetch(url + path, {
      method,
      headers: { 'x-api-key': key, ...(text === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(text === undefined ? {} : { body: text as string }),
      ...(signal && { signal }),
    });
    return { status: response.status, text: await response.text() };
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ready`)).status === 200;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
