import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Group, wait } from './group.ts';
import { freePorts, peersOn } from './local-peers.ts';

/** 1 Mbit/s, in frames as they are on a wire. */
const bytesPerMs = 125;
const frameBytes = 1_500;

let folder: string;
let group: Group;
const closes: (() => unknown)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  group = new Group(folder, peersOn(await freePorts(3)));
});
afterEach(async () => {
  for (const close of closes.splice(0)) close();
  await group.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

/** A link to a port that all connections share, in turns. Gives its own port, and how much it has carried. */
async function slowLink(port: number): Promise<{ readonly port: number; readonly carried: () => number }> {
  const waiting = new Set<{ readonly from: Socket; readonly to: Socket }>();
  let [carried, freeMs] = [0, 0];
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    const pair = { from, to };
    to.pipe(from);
    waiting.add(pair);
    for (const [one, other] of [[from, to] as const, [to, from] as const]) {
      one.on('error', () => undefined);
      one.on('close', () => {
        other.destroy();
        waiting.delete(pair);
      });
    }
  });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (freeMs = Math.max(freeMs, nowMs - 20); freeMs < nowMs; ) {
      const ready = [...waiting].filter(({ from }) => from.readableLength > 0);
      if (ready.length === 0) return;
      for (const { from, to } of ready) {
        const frame = from.read(Math.min(frameBytes, from.readableLength)) as Buffer;
        to.write(frame);
        carried += frame.length;
        freeMs += frame.length / bytesPerMs;
      }
    }
  }, 5);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closes.push(() => {
    clearInterval(timer);
    server.close();
    for (const { from, to } of waiting) for (const socket of [from, to]) socket.destroy();
  });
  return { port: (server.address() as { port: number }).port, carried: () => carried };
}

it('a member gets a snapshot over 1 Mbit/s, and its leader goes on leading meanwhile', async () => {
  const timers = { tickMs: 50 };
  const [one, two, three] = group.peers as [(typeof group.peers)[0], (typeof group.peers)[0], (typeof group.peers)[0]];
  const link = await slowLink(three.port);
  const peers = [one, two, { ...three, port: link.port }];
  // More entries than are kept behind a snapshot.
  const commands = Array.from({ length: 5_400 }, (_, at) => `${at} ${'x'.repeat(200)}`);
  for (const id of [1, 2]) await group.start(id, { peers, timers, snapshotEntries: 5_200 });
  const leader = await group.leader();
  const { member } = group.of(leader);
  for (let at = 0; at < commands.length; at += 200)
    await Promise.all(commands.slice(at, at + 200).map((command) => group.propose(leader, command)));
  const { term } = member.status();
  const { journal, member: late } = await group.start(3, { peers, timers });
  const stateBytes = commands.join('\n').length;
  await vi.waitFor(() => expect(link.carried()).toBeGreaterThan(stateBytes / 4), wait);
  // Half of it is still to come.
  expect(journal.commands).toEqual([]);
  expect(late.status().leader).toBe(leader);
  await group.propose(leader, 'one more');
  await vi.waitFor(() => expect(journal.commands).toEqual([...commands, 'one more']), { timeout: 120_000, interval: 100 });
  expect(link.carried()).toBeLessThan(3 * stateBytes);
  for (const { member: each } of group.running.values()) expect(each.status()).toMatchObject({ term, leader });
});
