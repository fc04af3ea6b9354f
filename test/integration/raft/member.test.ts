import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Group, wait } from './group.ts';
import { freePorts, peersOn } from './local-peers.ts';

let folder: string;
let group: Group;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-raft-'));
  group = new Group(folder, peersOn(await freePorts(3)));
});
afterEach(async () => {
  await group.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

async function startAll(): Promise<void> {
  await Promise.all([1, 2, 3].map((id) => group.start(id)));
}

const others = (id: number): number[] => [1, 2, 3].filter((one) => one !== id);

describe('members of a Raft group', () => {
  it('agree on commands and give each its result, also after all start again', async () => {
    await startAll();
    const leader = await group.leader();
    const commands = Array.from({ length: 300 }, (_, at) => `command ${at}`);
    const results = await Promise.all(commands.map((command) => group.propose(leader, command)));
    expect(results).toEqual(commands.map((_, at) => at + 1));
    await group.agreed(commands);
    await group.stopAll();
    await startAll();
    await group.leader();
    await group.agreed(commands);
  }, 60_000);

  it('refuse what only the leader does, and say who and where that is', async () => {
    await startAll();
    const leader = await group.leader();
    const follower = others(leader)[0] as number;
    await vi.waitFor(() => expect(group.of(follower).member.status().leader).toBe(leader), wait);
    await expect(group.propose(follower, 'a')).rejects.toMatchObject({ reason: 'notLeader', leader, leaderUrl: `http://node-${leader}` });
    await expect(group.of(follower).member.readIndex()).rejects.toMatchObject({ reason: 'notLeader', leader });
    await expect(group.of(leader).member.propose(new Uint8Array(1_048_577))).rejects.toMatchObject({ code: 'payload_too_large' });
  }, 60_000);

  it('know nobody while a majority is missing, and say so in time', async () => {
    const { member } = await group.start(1);
    await expect(member.propose(Buffer.from('a'))).rejects.toMatchObject({ reason: 'noLeader', mayHaveHappened: false });
  }, 60_000);

  it('keep their leader while the threads of their API stand still for longer than an election takes', async () => {
    await Promise.all([1, 2, 3].map((id) => group.start(id, { timers: { tickMs: 50 } })));
    const leader = await group.leader();
    const { term } = group.of(leader).member.status();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
    await group.propose(leader, 'a');
    await group.agreed(['a']);
    expect([1, 2, 3].map((id) => group.of(id).member.status())).toMatchObject(Array.from({ length: 3 }, () => ({ term, leader })));
  }, 60_000);

  it('hand over when the leader closes, and when it is asked to', async () => {
    await startAll();
    const first = await group.leader();
    await group.propose(first, 'a');
    const next = others(first)[1] as number;
    await group.of(first).member.transferLeadership(next);
    await vi.waitFor(() => expect(group.of(next).member.status().role).toBe('leader'), wait);
    await group.propose(next, 'b');
    const termBefore = group.of(next).member.status().term;
    await group.stop(next, true);
    const last = await group.leader();
    expect(group.of(last).member.status().term).toBe(termBefore + 1);
    await group.propose(last, 'c');
    await group.agreed(['a', 'b', 'c']);
  }, 60_000);

  it('refuse what they are asked while they hand over, so that it can be asked elsewhere', async () => {
    await startAll();
    const first = await group.leader();
    const { member } = group.of(first);
    const closed = group.stop(first, true);
    const refused = await member.propose(Buffer.from('a')).catch((error: unknown) => error);
    expect(refused).toMatchObject({ reason: expect.stringMatching(/^(transferring|notLeader|noLeader)$/), mayHaveHappened: false });
    await closed;
    await group.propose(await group.leader(), 'b');
    await vi.waitFor(() => expect(group.of(others(first)[0] as number).journal.commands).toEqual(['b']), wait);
  }, 60_000);

  it('take in another member, which learns everything by a snapshot, and let one go', async () => {
    const [port = 0] = await freePorts(1);
    await Promise.all([1, 2, 3].map((id) => group.start(id, { snapshotEntries: 50 })));
    const leader = await group.leader();
    const commands = Array.from({ length: 120 }, (_, at) => `command ${at}`);
    for (const command of commands) await group.propose(leader, command);
    const newcomer = { id: 4, url: 'http://node-4', host: '127.0.0.1', port };
    const bootstrap = [...group.peers];
    group.peers.push(newcomer);
    for (const { member } of group.running.values()) member.setPeers(group.peers);
    const { member } = await group.start(4, { peers: bootstrap });
    member.setPeers(group.peers);
    const { member: leading } = group.of(leader);
    await leading.changeMembership({ kind: 'addLearner', id: 4 });
    await group.agreed(commands);
    await vi.waitFor(() => leading.changeMembership({ kind: 'promote', id: 4 }), wait);
    const gone = others(leader)[0] as number;
    await leading.changeMembership({ kind: 'remove', id: gone });
    await group.stop(gone);
    await group.propose(leader, 'one more');
    await group.agreed([...commands, 'one more']);
    const roles = group
      .of(4)
      .member.status()
      .peers.map(({ id, role }) => `${id} ${role}`);
    expect(roles).toEqual([1, 2, 3, 4].filter((id) => id !== gone).map((id) => `${id} voter`));
  }, 60_000);

  it('refuse a member whose directory was wiped, under its old id', async () => {
    await startAll();
    const leader = await group.leader();
    await group.propose(leader, 'a');
    const wiped = others(leader)[0] as number;
    await group.stop(wiped);
    rmSync(join(folder, String(wiped)), { recursive: true });
    const { member, lines } = await group.start(wiped);
    const failure = await member.failed;
    expect(failure).toMatchObject({ code: 'runtime_error', exitCode: 4 });
    expect(failure.message).toMatch(/^node \d knows a node \d with other data than those in .*: what that one promised is lost here$/);
    expect(lines.map(({ message }) => message)).toContain('Raft member failed');
    await expect(member.propose(Buffer.from('b'))).rejects.toMatchObject({ reason: 'stopped', mayHaveHappened: true });
    await group.propose(leader, 'c');
  }, 60_000);

  it('speak TLS to each other when they are given certificates, and to nobody whose certificate is of others', async () => {
    const pem = (name: string): string => readFileSync(new URL(`../server/certificates/${name}.pem`, import.meta.url), 'utf8');
    const pair = (name: string) => ({ tls: { cert: pem(`${name}-cert`), key: pem(`${name}-key`), ca: pem('first-cert') } });
    await Promise.all([group.start(1, pair('first')), group.start(2, pair('first')), group.start(3, pair('second'))]);
    const leader = await group.leader();
    expect(leader).not.toBe(3);
    await group.propose(leader, 'a');
    const { member, journal } = group.of(3);
    const untrusted = { message: 'Raft member out of reach; connecting goes on', fields: { peer: 3, reason: 'self-signed certificate' } };
    await vi.waitFor(() => expect(group.of(1).lines).toContainEqual(untrusted), wait);
    const refused = expect.objectContaining({
      reason: 'TLS: it shows no certificate that this member takes (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    await vi.waitFor(
      () => expect(group.of(1).lines).toContainEqual({ message: 'Raft connection refused or broken', fields: refused }),
      wait,
    );
    // Who has to mend it hears of it too.
    const silence = expect.objectContaining({
      reason: expect.stringContaining('the certificate of this member may be what it does not take'),
    });
    await vi.waitFor(
      () => expect(group.of(3).lines).toContainEqual({ message: 'Raft member out of reach; connecting goes on', fields: silence }),
      wait,
    );
    expect(journal.commands).toEqual([]);
    expect(member.status().leader).toBe(0);
    member.renewCertificate(pair('first').tls);
    await group.agreed(['a']);
  }, 60_000);

  it('say so, both of them, when one speaks TLS and the other does not', async () => {
    const pem = (name: string): string => readFileSync(new URL(`../server/certificates/first-${name}.pem`, import.meta.url), 'utf8');
    await Promise.all([group.start(1, { tls: { cert: pem('cert'), key: pem('key'), ca: pem('cert') } }), group.start(2)]);
    const reasons = (id: number): string[] => group.of(id).lines.map(({ fields }) => String((fields as { reason?: string }).reason));
    await vi.waitFor(() => {
      expect(reasons(1)).toEqual(expect.arrayContaining([expect.stringContaining('speaks no TLS (--raft-tls-ca)')]));
      expect(reasons(2)).toContain('it speaks TLS, and this member does not (--raft-tls-ca)');
    }, wait);
  }, 60_000);

  it('refuse options that cannot be right, and a directory that another has open', async () => {
    await group.start(1);
    await expect(group.start(1)).rejects.toMatchObject({
      code: 'io_error',
      message: expect.stringContaining('is open in another process'),
    });
    const taken = { host: '127.0.0.1', port: group.of(1).member.port };
    await expect(group.start(2, { listen: taken })).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringMatching(/cannot bind/),
    });
    await expect(group.start(2, { key: 'short' })).rejects.toMatchObject({ code: 'config_error' });
    const [first] = group.peers;
    await expect(group.start(2, { peers: first ? [first, first] : [] })).rejects.toThrow('two members of the Raft group have the id 1');
  }, 60_000);

  it('show in metrics who leads and what was done', async () => {
    await startAll();
    const leader = await group.leader();
    await group.propose(leader, 'a');
    const text = await vi.waitFor(async () => {
      const found = await group.of(leader).metrics.render();
      expect(found).toMatch(/^cep_raft_role 3$/m);
      expect(found).toMatch(/^cep_raft_wal_sync_seconds_count [1-9]/m);
      expect(found.match(/^cep_raft_peer_reachable\{peer="\d"\} 1$/gm)).toHaveLength(3);
      return found;
    }, wait);
    expect(text).toMatch(/^cep_raft_commit_seconds_count [1-9]/m);
    expect(text.match(/^cep_raft_peer_lag\{/gm)).toHaveLength(3);
  }, 60_000);
});
