import { freePortPairs } from '../free-ports.ts';
import type { Network } from './network.ts';

/** All on 127.0.0.1, each with ports of its own. */
export async function loopback(count: number): Promise<Network> {
  const ports = await freePortPairs(count);
  return {
    outside: '127.0.0.1',
    places: ports.map((port) => ({ host: '127.0.0.1', port, before: [] })),
    links: undefined,
    close: () => Promise.resolve(),
  };
}
