import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { afterEach, expect, it, vi } from 'vitest';
import { Connections } from '../../../shared/http/connections.ts';
import { createWebServer } from '../../../shared/http/web-server.ts';
import type { TlsPair } from '../../../shared/security/tls-files.ts';
import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import type { Follower, Output, OutputCursor } from '../../../worker/runtime/service.ts';
import { EventStream } from '../../../worker/server/streaming/event-stream.ts';
import { Turns } from '../../../worker/server/streaming/turns.ts';

/** Short for a client that takes nothing, and long for one on the same machine that reads. */
const STALL_MS = 500;
/** More than the system holds for a client. */
const LARGE = Buffer.alloc(64 * 1_048_576, 'x');

/** More than the system holds back before it takes something again. */
const SOME_BYTES = 8 * 1_048_576;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const certificates = new URL('../../integration/server/certificates/', import.meta.url);
const [cert, key] = ['cert', 'key'].map((part) => readFileSync(new URL(`first-${part}.pem`, certificates), 'utf8')) as [string, string];

async function serve(listener: RequestListener, tls?: TlsPair) {
  const options = { tls, isWebSocketPath: () => false, webSockets: new EventEmitter() };
  const server = createWebServer(listener, { ...options, connections: new Connections(STALL_MS) });
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  /** Its connection as the server has it, and as it has it itself. */
  const ask = async (): Promise<{ readonly client: Socket; readonly atServer: Socket }> => {
    const accepted = once(server, tls === undefined ? 'connection' : 'secureConnection');
    const place = { port, host: '127.0.0.1', allowHalfOpen: true };
    const client = tls === undefined ? connect(place) : connectSecurely({ ...place, rejectUnauthorized: false });
    client.on('error', () => undefined);
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [atServer] = (await accepted) as [Socket];
    ends.push(() => client.destroy());
    return { client, atServer };
  };
  return { ask };
}

const largeAnswer: RequestListener = (_, response) => void response.end(LARGE);

/** A stream of outputs without end. */
const stream: RequestListener = (_, response) => {
  const output = { sequence: 1, stream: 'S', eventType: 'S', fieldsJson: JSON.stringify({ s: 'x'.repeat(60_000) }) } as Output;
  const follow = ({ onReadable }: Follower): OutputCursor => {
    setImmediate(onReadable);
    return { position: 0, read: () => ({ skipped: 0, outputs: [output] }), close: () => undefined };
  };
  const telemetry = { log: { log: () => undefined } } as unknown as Telemetry;
  const facts = { tenantId: 't', headers: {}, lastEventId: undefined, telemetry, onClose: () => undefined, stallMs: STALL_MS };
  new EventStream({ ...facts, response, follow, turns: new Turns(() => performance.now()) });
};

it.each([
  ['an answer', largeAnswer],
  ['a stream of outputs', stream],
])('a client that takes nothing of %s is cut, whether or not it has said that it sends nothing more', async (_, listener) => {
  const { ask } = await serve(listener);
  const [open, half] = [await ask(), await ask()];
  await vi.waitFor(() => expect(half.atServer.writableLength).toBeGreaterThan(0), { timeout: 30_000, interval: 5 });
  half.client.end();
  await Promise.all([open, half].map(({ atServer }) => once(atServer, 'close')));
  expect([open, half].map(({ atServer }) => atServer.writableFinished)).toEqual([false, false]);
});

it('a client that reads has the whole answer, and its connection takes another request', async () => {
  const { ask } = await serve(largeAnswer);
  const { client, atServer } = await ask();
  let bytes = 0;
  const read = (): Promise<void> =>
    new Promise((resolve) => {
      const take = (part: Buffer): void => {
        bytes += part.length;
        if (bytes < LARGE.length) return;
        bytes = 0;
        client.off('data', take);
        resolve();
      };
      client.on('data', take).resume();
    });
  await read();
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await read();
  expect([atServer.destroyed, client.destroyed]).toEqual([false, false]);
});

it('over TLS a client is cut that takes nothing of an answer, and not while it takes something', async () => {
  const { client, atServer } = await (await serve(largeAnswer, { cert, key })).ask();
  const someMore = (): Promise<void> =>
    new Promise((resolve) => {
      let bytes = 0;
      const take = (part: Buffer): void => {
        bytes += part.length;
        if (bytes < SOME_BYTES) return;
        client.off('data', take).pause();
        resolve();
      };
      client.on('data', take).resume();
    });
  for (let times = 0; times < 3; times++) {
    await vi.waitFor(() => expect(atServer.timeout).toBe(STALL_MS), { timeout: 30_000, interval: 1 });
    await someMore();
    atServer.emit('timeout');
    expect(atServer.destroyed).toBe(false);
  }
  await once(atServer, 'close');
  expect(atServer.writableFinished).toBe(false);
});
