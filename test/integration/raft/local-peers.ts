import { createServer } from 'node:net';
import type { RaftPeer } from '../../../coordinator/raft/group.ts';

export const groupKey = 'the key of a group under test';

/** Ports that nobody has at the moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

export function peersOn(ports: readonly number[]): RaftPeer[] {
  return ports.map((port, at) => ({ id: at + 1, url: `http://node-${at + 1}`, host: '127.0.0.1', port }));
}
