import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KnownIncarnations } from '../../../coordinator/raft/peers/known-incarnations.ts';
import { PeerConnections } from '../../../coordinator/raft/peers/peer-connections.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { wait } from './group.ts';
import { freePorts, groupKey, peersOn } from './local-peers.ts';

let folder: string;
const running: PeerConnections[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((connections) => connections.close()));
  rmSync(folder, { recursive: true, force: true });
});

/** `random` draws the pauses between attempts: with a million, none ends within a test. */
async function start(id: number, ports: readonly number[], random: () => number, lost: () => void = () => undefined) {
  const connections = await PeerConnections.start({
    secrets: { clusterId: 'cluster', self: { id, incarnation: id, formatMax: 1 }, key: groupKey, tls: undefined },
    listen: { host: '127.0.0.1', port: ports[id - 1] as number },
    known: await KnownIncarnations.open(mkdtempSync(join(folder, 'member-'))),
    door: new OutboundDoor(NetworkPolicy.everywhere),
    random,
    take: () => undefined,
    changed: (_, isOpen) => {
      if (!isOpen) lost();
    },
    gone: () => undefined,
    rejected: () => undefined,
    refused: () => undefined,
  });
  running.push(connections);
  connections.setPeers(peersOn(ports));
  return connections;
}

describe('connections between members', () => {
  it('are open in both directions as soon as one that was away comes back, however long the pause before the next attempt', async () => {
    const ports = await freePorts(2);
    const lost = vi.fn();
    const first = await start(1, ports, () => 1_000_000, lost);
    await vi.waitFor(() => expect(lost).toHaveBeenCalled(), wait);
    expect(first.isReachable(2)).toBe(false);
    const second = await start(2, ports, Math.random);
    await vi.waitFor(() => expect([first.isReachable(2), second.isReachable(1)]).toEqual([true, true]), wait);
  }, 60_000);
});
