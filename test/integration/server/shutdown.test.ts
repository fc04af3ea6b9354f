import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { StreamClient } from '../../clients/event-stream-client.ts';
import { WebSocketClient } from '../../clients/websocket-client.ts';
import { cep, logOf, path, post, program, type Served, serve } from './serving.ts';

vi.setConfig({ testTimeout: 120_000 });

const certificates = new URL('./certificates/', import.meta.url).pathname;
const cert = join(certificates, 'first-cert.pem');
const tls = ['--tls-cert', cert, '--tls-key', join(certificates, 'first-key.pem')];
const head = 'POST /api/v1/validate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
const rest = 'content-length: 13\r\n\r\n{"source":""}';
const h2c = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAM\r\n';

interface Peer {
  readonly socket: Socket;
  /** What came back until now. */
  readonly text: () => string;
  readonly closed: Promise<void>;
}

function peer(socket: Socket): Peer {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  return { socket, text: () => text, closed: new Promise((resolve) => socket.on('close', () => resolve())) };
}

/** A connection that has sent the bytes, and waits; over TLS where the server asks for it. */
async function open(url: string, bytes: string): Promise<Peer> {
  const { port, protocol } = new URL(url);
  const socket =
    protocol === 'https:'
      ? connectSecurely({ port: Number(port), host: '127.0.0.1', ca: readFileSync(cert), checkServerIdentity: () => undefined })
      : connect(Number(port), '127.0.0.1');
  const made = peer(socket);
  await new Promise((resolve) => socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', resolve));
  socket.write(bytes);
  return made;
}

/** Ends the server: its exit code, and whether it took long enough to have waited for somebody. */
async function stop({ cep }: Served): Promise<{ code: number | null; isPrompt: boolean }> {
  cep.kill('SIGTERM');
  const { code } = await cep.ended;
  const stopped = logOf(cep).find(({ message }) => message === 'Server stopped');
  return { code, isPrompt: Number(stopped?.['seconds']) < 10 };
}

/** Connections by what their clients did; each would wait for ever. */
const idlers: readonly (readonly [string, string])[] = [
  ['a connection that never asked', ''],
  ['a connection that is kept alive', `${head}${rest}`],
  ['a connection that asked for another protocol', `${head}${h2c}${rest}`],
  ['half-sent headers', 'GET /health HTTP/1.1\r\nhost: local'],
  ['a half-sent body', `${head}content-length: 100\r\n\r\n{"sou`],
  ['a connection with several requests', `${head}${rest}${head}${rest}`],
];

describe.each([
  ['HTTP', []],
  ['HTTPS', tls],
])('a server that ends, over %s,', (_protocol, args) => {
  it.each(idlers)('does not wait for %s', async (_what, bytes) => {
    const served = await serve(args);
    const { text, closed } = await open(served.url, bytes);
    if (bytes.endsWith(rest)) await vi.waitUntil(() => text().includes('"valid":true'), { timeout: 60_000 });
    expect(await stop(served)).toEqual({ code: 0, isPrompt: true });
    await closed;
  });
});

describe('a server that ends', () => {
  it('does not wait for a connection that began no TLS', async () => {
    const served = await serve(tls);
    const { port } = new URL(served.url);
    const { socket } = peer(connect(Number(port), '127.0.0.1'));
    await new Promise((resolve) => socket.once('connect', resolve));
    expect(await stop(served)).toEqual({ code: 0, isPrompt: true });
  });

  it('does not wait for connections to the port of its metrics', async () => {
    const served = await serve(['--metrics', '--metrics-port', '0']);
    const metricsUrl = logOf(served.cep).find(({ message }) => message === 'Metrics listening')?.['url'];
    await open(String(metricsUrl), '');
    expect(await stop(served)).toEqual({ code: 0, isPrompt: true });
  });

  it('tells those that follow outputs, and waits for none of them', async () => {
    const served = await serve();
    const { id } = await post(`${served.url}/api/v1/pipelines`, { name: 'p', source: program });
    const sse = await StreamClient.open(`${served.url}/api/v1/pipelines/${id}/logs`);
    const ws = await WebSocketClient.open(`${served.url.replace('http', 'ws')}/ws`);
    const idle = await open(served.url, '');
    expect(await stop(served)).toEqual({ code: 0, isPrompt: true });
    await Promise.all([sse.until(({ isEnded }) => isEnded), ws.until(({ closeCode }) => closeCode === 1001), idle.closed]);
  });

  it('refuses changes that wait for their turn, instead of making them first', async () => {
    const served = await serve(['--api-key', 'server-key-0123456789']);
    const admin = { 'x-api-key': 'server-key-0123456789' };
    const quota = { max_pipelines: 1_000 };
    const tenant = await post(`${served.url}/api/v1/tenants`, { name: 'busy', plan: 'enterprise', quota }, admin);
    const key = { 'x-api-key': String(tenant['api_key']) };
    const deploy = (n: number): Promise<Record<string, unknown>> =>
      post(`${served.url}/api/v1/pipelines`, { name: `p${n}`, source: program }, key).catch(() => ({ code: 'cut' }));
    const first = deploy(0);
    const deploys = Array.from({ length: 300 }, (_, n) => deploy(n + 1));
    expect(await first).toMatchObject({ status: 'running' });
    expect(await stop(served)).toEqual({ code: 0, isPrompt: true });
    const answers = await Promise.all(deploys);
    const codes = new Set(answers.map(({ code, status }) => code ?? status));
    expect(codes).toContain('not_ready');
    expect([...codes].filter((code) => code !== 'running' && code !== 'not_ready')).toEqual([]);
  });

  it('answers a request that is under way, also on a connection that asked for another protocol', async () => {
    const served = await serve();
    const source =
      'event A:\n    n: int\n\nfn spin(n: int):\n    var i = 0\n    while i < n:\n        i := i + 1\n    return i\n\nstream S = A.emit(i: spin(n))\n';
    const { id } = await post(`${served.url}/api/v1/pipelines`, { name: 'p', source });
    // Long enough to be seen under way, also from a machine that has other things to do.
    const events = Array.from({ length: 300 }, () => ({ event_type: 'A', fields: { n: 990_000 } }));
    const body = JSON.stringify({ events });
    const path = `/api/v1/pipelines/${id}`;
    const request = `POST ${path}/events-batch?outputs=false HTTP/1.1\r\nhost: localhost\r\n${h2c}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const [asking, idle] = await Promise.all([open(served.url, request), open(served.url, '')]);
    await vi.waitUntil(
      async () => ((await (await fetch(`${served.url}${path}/metrics`)).json()) as { events_in_flight: number }).events_in_flight > 0,
      { timeout: 60_000, interval: 5 },
    );
    served.cep.kill('SIGTERM');
    await Promise.all([asking.closed, idle.closed]);
    expect(asking.text()).toContain('"accepted":300');
    expect((await served.cep.ended).code).toBe(0);
  });
});

describe('a server in whose process a thread waits for a file that never comes', () => {
  /** Reads its certificate again, in whose place there is a pipe. */
  async function held(): Promise<Served> {
    const [own, key] = [path('held-cert.pem'), path('held-key.pem')];
    copyFileSync(cert, own);
    copyFileSync(join(certificates, 'first-key.pem'), key);
    chmodSync(key, 0o600);
    const served = await serve(['--tls-cert', own, '--tls-key', key]);
    rmSync(own);
    execFileSync('mkfifo', [own]);
    served.cep.kill('SIGHUP');
    return served;
  }

  it('ends when it is asked to', async () => {
    const { cep } = await held();
    cep.kill('SIGTERM');
    await cep.ended;
    expect(logOf(cep).find(({ message }) => message === 'Server stopped')).toMatchObject({ clean: true });
  });
});

it('a coordinator whose start waits for a disk ends when it is asked to', async () => {
  const dataDir = path('waiting-raft');
  mkdirSync(dataDir);
  execFileSync('mkfifo', [join(dataDir, 'identity')]);
  // The key there is warned of before the start begins.
  const process = cep(['coordinator', '--port', '0', '--raft-data-dir', dataDir, '--api-key', 'seen-by-all']);
  await process.until(({ stderr }) => stderr.includes('WARN'));
  process.kill('SIGTERM');
  await process.ended;
  expect(process.stderr).toContain('Server stopping');
});
