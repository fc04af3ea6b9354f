import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { RedisChannelSource } from '../../../worker/connectors/redis/channel-source.ts';
import { ReadingSource } from './reading-source.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const answers: Readonly<Record<string, string>> = {
  info: '$19\r\nredis_version:7.0.0\r\n',
  ping: '+PONG\r\n',
  subscribe: '*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n',
};

/** As much of a server as a listener needs. */
function answer(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.on('data', (text) => {
    for (const [, word] of String(text).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) socket.write(answers[word?.toLowerCase() ?? ''] ?? '+OK\r\n');
  });
}

it('listens again soon after its connection has ended, without waiting until it would ask whether the server is there', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const address = { host: '127.0.0.1', port, tls: false, database: 0, username: undefined, password: undefined };
  const source = new RedisChannelSource({
    address: { ...address, door: new OutboundDoor(NetworkPolicy.everywhere) },
    channel: 'news',
  });
  const reading = new ReadingSource(source);
  closing.unshift(() => reading.close());
  await reading.until(() => reading.isConnected);
  sockets[0]?.destroy();
  // It would ask after five seconds.
  await vi.waitFor(() => expect(reading.isConnected).toBe(false), { timeout: 2_500, interval: 5 });
  await reading.until(() => reading.isConnected);
  expect(sockets).toHaveLength(2);
});
