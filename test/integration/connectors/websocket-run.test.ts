import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { CepProcess } from '../cli/cep-process.ts';
import { audit, type Delivered } from './audit.ts';

vi.setConfig({ testTimeout: 120_000 });

const EVENTS = 300;

describe('cep run between two WebSockets', () => {
  let folder = '';
  let feed: WebSocketServer;
  let desk: WebSocketServer;
  let run: CepProcess | undefined;
  let delivered: Delivered[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cep-websocket-'));
    [feed, desk] = [new WebSocketServer({ port: 0, host: '127.0.0.1' }), new WebSocketServer({ port: 0, host: '127.0.0.1' })];
    await vi.waitFor(() => expect([feed.address(), desk.address()]).not.toContain(null));
    delivered = [];
    desk.on('connection', (socket) => socket.on('message', (data) => delivered.push(JSON.parse(String(data)) as Delivered)));
  });
  afterEach(async () => {
    run?.kill('SIGKILL');
    await run?.ended;
    for (const server of [feed, desk]) {
      for (const client of server.clients) client.terminate();
      server.close();
    }
    rmSync(folder, { recursive: true });
  });

  const urlOf = (server: WebSocketServer): string => `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const program = (): string => `
event Reading:
    n: int

connector In = websocket (url: "${urlOf(feed)}")
connector Out = websocket (url: "${urlOf(desk)}", topic: "readings")

stream Each = Reading.from(In)
    .emit(n)
    .to(Out)
`;
  const next = (): Promise<WebSocket> => new Promise((resolve) => feed.once('connection', resolve));

  it('delivers each event that came, over lost connections of both and a kill of the process', async () => {
    const start = (): CepProcess => new CepProcess(['run', '-c', program(), '--quiet', '--checkpoint-dir', join(folder, 'state')]);
    let connection = next();
    run = start();
    for (let n = 0; n < EVENTS; n++) {
      (await connection).send(JSON.stringify({ n }));
      if (n === 100) {
        // What was sent to it was read before its answer to a ping.
        await answered(await connection);
        await vi.waitFor(() => expect(delivered.length).toBeGreaterThan(0), { timeout: 30_000 });
        connection = next();
        for (const server of [feed, desk]) for (const client of server.clients) client.terminate();
      }
      if (n === 200) {
        await vi.waitFor(() => expect(new Set(delivered.map(({ data }) => data['n'])).size).toBe(201), { timeout: 60_000 });
        connection = next();
        run.kill('SIGKILL');
        await run.ended;
        run = start();
      }
    }
    await vi.waitFor(() => expect(new Set(delivered.map(({ data }) => data['n'])).size).toBe(EVENTS), { timeout: 60_000 });
    run.kill('SIGINT');
    expect((await run.ended).code).toBe(0);
    expect(audit(delivered, EVENTS).lost).toEqual([]);
    // What was sent since the last checkpoint is sent again after a kill, with the same id.
    expect(new Set(delivered.map(({ id }) => id)).size).toBe(EVENTS);
    expect(delivered[0]).toMatchObject({ topic: 'readings', event_type: 'Each', data: { n: 0 } });
  });
});

function answered(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('pong', () => resolve());
    socket.ping();
  });
}
