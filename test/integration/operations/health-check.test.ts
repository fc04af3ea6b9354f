import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { cep, write } from '../server/serving.ts';

vi.setConfig({ testTimeout: 60_000 });

const script = join(import.meta.dirname, '../../../deploy/docker/health.mjs');
const certificates = join(import.meta.dirname, '../server/certificates');
const tls = ['--tls-cert', join(certificates, 'first-cert.pem'), '--tls-key', join(certificates, 'first-key.pem')];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What the check of a container says of a process, in that container's variables. */
async function healthOf(pid: number | undefined, env: Readonly<Record<string, string>>): Promise<number | null> {
  const check = spawn(process.execPath, [script, String(pid)], { stdio: 'ignore', env: { ...process.env, ...env } });
  return await new Promise((resolve) => check.on('close', resolve));
}

interface Case {
  readonly args: (port: string) => readonly string[];
  readonly env?: (port: string) => Readonly<Record<string, string>>;
}

const cases: readonly (readonly [string, Case])[] = [
  ['a port of its flags', { args: (port) => ['server', '--port', port] }],
  ['a port of its flags, written otherwise', { args: (port) => ['server', `-p=${port}`, '--worker-id', 'coordinator'] }],
  ['a port of its variables', { args: () => ['server'], env: (port) => ({ CEP_SERVER_PORT: port }) }],
  ['a port of its file', { args: (port) => ['-c', write('file.yaml', `server:\n  port: ${port}\n`), 'server'] }],
  [
    'a file of its variables',
    { args: () => ['server'], env: (port) => ({ CEP_CONFIG: write('variable.yaml', `server: {port: ${port}}\n`) }) },
  ],
  ['TLS', { args: (port) => ['server', '--port', port, ...tls] }],
  [
    'an address and names of its own',
    { args: (port) => ['server', '--port', port, '--bind', '127.0.0.3', '--allowed-hosts', 'cep.example'] },
  ],
  ['the name of a coordinator', { args: (port) => ['coordinator', '--port', port] }],
];

it.each(cases)('a container is healthy that is given %s', async (_, { args, env = () => ({}) }) => {
  const port = String(await freePort());
  const variables = { CEP_SERVER_API_KEY_FILE: write('key', 'the-key-of-this\n'), ...env(port) };
  const started = cep(args(port), variables);
  await started.until(({ stderr }) => stderr.includes(' listening'));
  expect(await healthOf(started.child.pid, variables)).toBe(0);
});

it('a container is not healthy when its server does not answer, and is when it has none', async () => {
  const port = String(await freePort());
  const started = cep(['server', '--port', port]);
  await started.until(({ stderr }) => stderr.includes('Server ready'));
  started.kill('SIGSTOP');
  expect(await healthOf(started.child.pid, {})).toBe(1);
  const running = cep(['run', '-f', write('idle.vpl', 'stream S = A.emit(x: x)\n')]);
  await running.until(({ stderr }) => stderr.includes('nothing comes in'));
  expect(await healthOf(running.child.pid, {})).toBe(0);
});
