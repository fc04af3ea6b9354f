import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { wait } from './group.ts';
import { freePorts, peersOn } from './local-peers.ts';
import { pauseLeader } from './paused-leader.ts';
import { ProcessGroup } from './process-group.ts';

/** `RAFT_KILLS=60 npx vitest run test/integration/raft/processes.test.ts` kills the leader every 5 s for 5 minutes. */
const kills = Number(process.env['RAFT_KILLS'] ?? 4);
const clientCount = 6;
const tickMs = 20;

let folder: string;
let group: ProcessGroup;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  group = new ProcessGroup(folder, peersOn(await freePorts(3)), tickMs);
  await Promise.all(group.ids.map((id) => group.start(id)));
}, 60_000);
afterEach(async () => {
  await group.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

describe('three processes', () => {
  it('lose nothing when the leader is killed again and again, and clients see one order of everything', async () => {
    group.startClients(clientCount);
    await group.progress(20);
    for (let kill = 0; kill < kills; kill++) {
      const next = performance.now() + 5_000;
      const leader = await group.leader();
      await group.members.get(leader)?.kill();
      await group.progress(30);
      await group.start(leader);
      await group.progress(30);
      if (kills > 10) await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(next), wait);
    }
    expect(group.verdict()).toEqual({ kind: 'linearizable' });
    expect(group.history.length).toBeGreaterThan(50 * kills);
  }, 600_000);

  it('lose nothing when all are killed at once', async () => {
    group.startClients(clientCount);
    for (let round = 0; round < 2; round++) {
      await group.progress(50);
      await Promise.all([...group.members.values()].map((member) => member.kill()));
      await Promise.all(group.ids.map((id) => group.start(id)));
    }
    await group.progress(50);
    expect(group.verdict()).toEqual({ kind: 'linearizable' });
  }, 120_000);

  it('acknowledge nothing without a majority, and go on when there is one again', async () => {
    group.startClients(clientCount);
    await group.progress(30);
    const leader = await group.leader();
    const others = group.ids.filter((id) => id !== leader);
    for (const id of others) await group.members.get(id)?.kill();
    await vi.waitFor(() => expect(group.members.get(leader)?.role).not.toBe('leader'), wait);
    const before = group.answered;
    const answered: string[] = [];
    group.members.get(leader)?.ask({ kind: 'propose', command: { kind: 'register' } }, ({ kind }) => answered.push(kind));
    await vi.waitFor(() => expect(answered).toEqual(['refused']), wait);
    expect(group.answered).toBe(before);
    for (const id of others) await group.start(id);
    await group.progress(30);
    expect(group.verdict()).toEqual({ kind: 'linearizable' });
  }, 120_000);

  it('go on while the leader is stopped, and it serves nothing stale when it wakes up', async () => {
    group.startClients(clientCount);
    await group.progress(30);
    await pauseLeader(group, 0);
    expect(group.verdict()).toEqual({ kind: 'linearizable' });
  }, 120_000);

  it('go on when the thread that answers for the leader stands still for good', async () => {
    group.startClients(clientCount);
    await group.progress(30);
    const stuck = await group.leader();
    group.members.get(stuck)?.ask({ kind: 'burn', ms: 600_000 });
    const others = group.ids.filter((id) => id !== stuck);
    await vi.waitFor(() => expect(others.some((id) => group.members.get(id)?.role === 'leader')).toBe(true), wait);
    await group.progress(30);
    expect(group.verdict()).toEqual({ kind: 'linearizable' });
  }, 120_000);

  it('hand over when the leader is asked to end', async () => {
    group.startClients(clientCount);
    await group.progress(30);
    const leader = await group.leader();
    const leaving = group.members.get(leader);
    const term = leaving?.term ?? 0;
    leaving?.ask({ kind: 'close' });
    expect(await leaving?.ended).toBe(0);
    const next = await group.leader();
    // One election, and nobody had to wait for it.
    expect(group.members.get(next)?.term).toBe(term + 1);
    await group.progress(30);
    expect(group.verdict()).toEqual({ kind: 'linearizable' });
  }, 120_000);

  it('refuse one whose directory was wiped, which ends with exit code 4 and says what to do', async () => {
    group.startClients(2);
    await group.progress(10);
    const leader = await group.leader();
    const wiped = group.ids.find((id) => id !== leader) as number;
    await group.members.get(wiped)?.kill();
    rmSync(group.folderOf(wiped), { recursive: true });
    const member = await group.start(wiped);
    expect(await member.ended).toBe(4);
    expect(member.stderr).toMatch(/knows a node \d with other data/);
    await group.progress(10);
  }, 120_000);
});
