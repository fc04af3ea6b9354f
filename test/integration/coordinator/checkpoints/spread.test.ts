import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checkpointStore } from '../../../../coordinator/checkpoints/checkpoint-store.ts';
import { GroupMember } from '../../../../coordinator/cluster/group-member.ts';
import { MemoryMember } from '../../../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../../../coordinator/cluster/replica.ts';
import type { MembershipChange, RaftPeerStatus, RaftStatus } from '../../../../coordinator/raft/group.ts';
import { bounds } from '../../../../coordinator/state/bounds.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { crc32c } from '../../../../shared/checksum/crc32c.ts';
import { Coordinator, coordinatorKey } from '../../../contract/coordinator.ts';
import { ask } from '../../../contract/declared-answer.ts';
import { cep } from '../../../unit/cli/cep.ts';

const bytes = new TextEncoder().encode('state');
const closedUrl = 'http://127.0.0.1:9';
const source = 'stream S = Login .emit(user: user)';

/** Leads a group whose other members are where the test says, and which agrees at once. */
class Leader extends MemoryMember {
  others: RaftPeerStatus[] = [];

  override status(): RaftStatus {
    const status = super.status();
    return { ...status, peers: [...status.peers, ...this.others] };
  }

  override async changeMembership(change?: MembershipChange): Promise<void> {
    if (change?.kind === 'remove') this.others = this.others.filter(({ id }) => id !== change.id);
  }
}

let leader: Leader;
let group: GroupMember;
let asked: Coordinator;
/** Members 2 and 3. */
let others: Coordinator[];

beforeEach(async () => {
  const replica = new Replica();
  leader = new Leader({ nodeId: 1, url: closedUrl, state: replica });
  group = new GroupMember({ member: leader, replica, clock: () => 0 });
  asked = await Coordinator.start({ group, isGroup: true });
  others = [await Coordinator.start(), await Coordinator.start()];
  leader.others = [peer(2, others[0]?.url), peer(3, others[1]?.url), { ...peer(4), isReachable: false }];
});

afterEach(async () => {
  await Promise.all([asked, ...others].map((one) => one.close()));
});

function peer(id: number, url = closedUrl): RaftPeerStatus {
  return { id, url, role: 'voter', isReachable: true, formatMax: undefined, matchIndex: 0, lag: 0 };
}

/** A checkpoint of each pipeline, on the members that it is said to be on; gives the paths of their bytes. */
async function withCheckpoints(holders: Readonly<Record<string, readonly (number | 'shared')[]>>): Promise<Record<string, string>> {
  const agree = async (command: Command) =>
    (await group.propose(command, undefined)).value as { readonly id: string; readonly epoch: number };
  const worker = { id: 'w1', incarnation: 'i1' };
  await agree({ type: 'RegisterWorker', payload: { ...worker, address: closedUrl, version: '1', cpuCores: 1, pipelinesMax: 0 } });
  await agree({ type: 'SetWorkerStatus', payload: { ...worker, status: 'ready' } });
  const pipelines = Object.keys(holders).map((name) => ({ name, source, replicas: 1 }));
  const { id } = await agree({ type: 'CreateGroup', payload: { name: 'g', pipelines, routes: [] } });
  const paths: Record<string, string> = {};
  for (const [name, ids] of Object.entries(holders)) {
    const placementId = `${id}:${name}:0`;
    const { epoch } = await agree({ type: 'AssignPlacement', payload: { id: placementId, workerId: 'w1' } });
    const locations = ids.map((one) => (one === 'shared' ? one : `node-${one}`));
    const manifest = { sequence: 1, bytes: bytes.length, checksum: crc32c(bytes), locations, received: {} };
    await agree({ type: 'CommitCheckpoint', payload: { placementId, epoch, ...manifest } });
    paths[name] = `/api/v1/cluster/checkpoints/${encodeURIComponent(placementId)}/${epoch}/1`;
  }
  return paths;
}

/** As a member asks another one, which then answers for itself. */
function askMember(method: string, member: Coordinator | undefined, path: string | undefined) {
  const headers = { 'x-cep-member': '1', 'content-type': 'application/octet-stream' };
  return ask({ method, url: `${member?.url}${path}`, key: coordinatorKey, headers, ...(method === 'PUT' ? { body: bytes } : {}) });
}

it('a checkpoint that nobody has keeps no other one from being copied, nor a member from being removed', async () => {
  const paths = await withCheckpoints({ first: [4, 5], kept: [1, 2], last: [2, 5] });
  for (const member of [asked, others[0]]) await askMember('PUT', member, paths.kept);
  expect(await asked.request('DELETE', '/api/v1/cluster/raft/members/4')).toMatchObject({ status: 200, body: { removed: true } });
  expect(await asked.request('DELETE', '/api/v1/cluster/raft/members/2')).toMatchObject({ status: 200, body: { removed: true } });
  expect(await askMember('GET', others[1], paths.kept)).toMatchObject({ status: 200, text: 'state' });
});

it('a member that alone has checkpoints is not removed before they are copied, and those that cannot be are named', async () => {
  const paths = await withCheckpoints({ first: [2], gone: [4, 5], kept: [1, 2], last: [2, 5] });
  await askMember('PUT', asked, paths.kept);
  leader.others = [peer(2), ...leader.others.slice(1)];
  const refused = await asked.request('DELETE', '/api/v1/cluster/raft/members/2');
  expect(refused).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
  expect(refused.body.details.placements.map((id: string) => id.split(':')[1])).toEqual(['first', 'last']);
  expect(await askMember('GET', others[1], paths.kept)).toMatchObject({ status: 200, text: 'state' });
  leader.others = [peer(2, others[0]?.url), ...leader.others.slice(1)];
  for (const name of ['first', 'last']) await askMember('PUT', others[0], paths[name]);
  expect(await asked.request('DELETE', '/api/v1/cluster/raft/members/2')).toMatchObject({ status: 200 });
  expect(await askMember('GET', others[1], paths.first)).toMatchObject({ status: 200, text: 'state' });
});

/** Puts one at the member that is asked, as a worker does, and gives the members that have it then. */
async function put(placementId: string): Promise<number[]> {
  const url = `${asked.url}/api/v1/cluster/checkpoints/${encodeURIComponent(placementId)}/1/1`;
  const headers = { 'content-type': 'application/octet-stream' };
  const { status, body } = await ask({ method: 'PUT', url, key: coordinatorKey, headers, body: bytes });
  return status === 201 ? body.locations.map((one: string) => Number(one.slice('node-'.length))) : [];
}

/** Two more, so that there are five members. */
async function five(): Promise<void> {
  others = [...others, await Coordinator.start(), await Coordinator.start()];
  leader.others = others.map(({ url }, at) => peer(at + 2, url));
}

it('whichever two of five members are lost, one that is left has the checkpoint', async () => {
  await five();
  const said = await put('g:p:0');
  const path = `/api/v1/cluster/checkpoints/${encodeURIComponent('g:p:0')}/1/1`;
  const answers = await Promise.all([asked, ...others].map((member) => askMember('GET', member, path)));
  const holders = [1, 2, 3, 4, 5].filter((_, at) => answers[at]?.status === 200);
  expect(holders).toEqual([...said].sort());
  expect(holders).toHaveLength(3);
});

it('a majority that is left takes checkpoints, and fewer take none', async () => {
  await five();
  leader.others = leader.others.map((one) => (one.id === 3 ? { ...one, isReachable: false } : one.id === 5 ? peer(5) : one));
  expect((await put('g:p:0')).sort()).toEqual([1, 2, 4]);
  leader.others = leader.others.map((one) => (one.id === 2 ? { ...one, isReachable: false } : one));
  expect(await put('g:p:1')).toEqual([]);
  leader.others = [peer(2, others[0]?.url), { ...peer(3), isReachable: false }];
  expect(await put('g:p:2')).toEqual([1, 2]);
  leader.others = [];
  expect(await put('g:p:3')).toEqual([1]);
});

it('a member that does not vote counts for nobody', async () => {
  leader.others = [{ ...peer(2, others[0]?.url), role: 'learner' }, peer(3, others[1]?.url), { ...peer(4), isReachable: false }];
  expect(await put('g:p:0')).toEqual([1, 3]);
});

it('placements begin with different members, so that not the same ones have all copies', async () => {
  await five();
  const holders = await Promise.all(Array.from({ length: 20 }, (_, at) => put(`g:p:${at}`)));
  expect([...new Set(holders.flat())].sort()).toEqual([1, 2, 3, 4, 5]);
  expect((await put('g:p:0')).sort()).toEqual(holders[0]?.sort());
});

/** One whose process hangs: it takes requests and never answers. */
async function silentMember(): Promise<Server> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return server;
}

it.each([3, 5])('a member of %i that does not answer keeps no placement from its checkpoints', async (size) => {
  if (size === 5) await five();
  const server = await silentMember();
  const paths = new Set<string>();
  server.on('request', ({ url = '' }) => void paths.add(url));
  const silent = peer(2, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  leader.others = [silent, ...leader.others.filter(({ id, isReachable }) => id !== 2 && isReachable)];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let kept = 0;
    const puts = Array.from({ length: 20 }, async (_, at) => {
      const holders = await put(`g:p:${at}`);
      kept++;
      return holders;
    });
    while (kept + paths.size < puts.length) await turn();
    expect(paths.size).toBeGreaterThan(0);
    // No more than that: its request has not come to an end of its own.
    await vi.advanceTimersByTimeAsync(2_500);
    for (const holders of await Promise.all(puts)) {
      expect(holders).toHaveLength((size + 1) / 2);
      expect(holders).not.toContain(2);
    }
  } finally {
    vi.useRealTimers();
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});

it('a checkpoint is read beside a member that does not answer', async () => {
  const { kept = '' } = await withCheckpoints({ kept: [2, 3] });
  await askMember('PUT', others[1], kept);
  const server = await silentMember();
  const asking = new Promise<void>((resolve) => void server.once('request', () => resolve()));
  leader.others = [peer(2, `http://127.0.0.1:${(server.address() as AddressInfo).port}`), ...leader.others.slice(1)];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const read = ask({ method: 'GET', url: `${asked.url}${kept}`, key: coordinatorKey });
    await asking;
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await read).toMatchObject({ status: 200, text: 'state' });
  } finally {
    vi.useRealTimers();
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});

it('what fewer members have than a majority of five is copied to the others when one goes', async () => {
  await five();
  const paths = await withCheckpoints({ kept: [1, 2] });
  for (const member of [asked, others[0]]) await askMember('PUT', member, paths.kept);
  expect(await asked.request('DELETE', '/api/v1/cluster/raft/members/2')).toMatchObject({ status: 200 });
  const answers = await Promise.all([asked, ...others.slice(1)].map((member) => askMember('GET', member, paths.kept)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
});

it('whoever promotes or removes members is told of checkpoints that are left on too few', async () => {
  await five();
  await withCheckpoints({ quiet: [2, 5] });
  const lost = (one: RaftPeerStatus): RaftPeerStatus => ([2, 5].includes(one.id) ? { ...one, isReachable: false } : one);
  leader.others = leader.others.map(lost);
  const remove = (id: string) => cep(['raft', 'remove', id, '--coordinator', asked.url, '--api-key', coordinatorKey]);
  const promoted = await cep(['raft', 'promote', '3', '--coordinator', asked.url, '--api-key', coordinatorKey]);
  expect([promoted.exitCode, promoted.stdout]).toEqual([0, 'Member 3 votes from now on\n']);
  expect(promoted.stderr).toMatch(/warning: the newest checkpoints of g_\w+:quiet:0 are on too few of the members that vote now/);
  for (const id of ['2', '5']) {
    const { exitCode, stdout, stderr } = await remove(id);
    expect([exitCode, stdout]).toEqual([0, `Removed member ${id}\n`]);
    expect(stderr).toMatch(/warning: the newest checkpoints of g_\w+:quiet:0 are on too few of the members that are left/);
  }
});

it('whoever promotes or removes a member is warned of nothing where everything is copied', async () => {
  await five();
  const paths = await withCheckpoints({ kept: [1, 2] });
  await askMember('PUT', asked, paths.kept);
  for (const command of ['promote', 'remove']) {
    const { exitCode, stderr } = await cep(['raft', command, '2', '--coordinator', asked.url, '--api-key', coordinatorKey]);
    expect([exitCode, stderr]).toEqual([0, '']);
  }
});

it('a checkpoint that counts and that nobody has is named with those that had it, and with what to do', async () => {
  const { gone = '' } = await withCheckpoints({ gone: [2, 3] });
  leader.others = leader.others.slice(0, 2);
  const { status, body } = await asked.request('GET', gone);
  expect([status, body.code]).toEqual([404, 'checkpoint_not_found']);
  expect(body.error).toMatch(
    /^no member has checkpoint 1 of placement .*: node-2, node-3 had it; docs\/operations\/disaster-recovery\.md /,
  );
  const unknown = await asked.request('GET', gone.replace(/1$/, '2'));
  expect(unknown.body.error).toMatch(/^no member has checkpoint 2 of placement '.*' under epoch \d+$/);
});

it('of a checkpoint that was in the shared store, that store is named as its option is', async () => {
  await asked.close();
  asked = await Coordinator.start({ group, isGroup: true, sharedCheckpoints: checkpointStore(undefined) });
  const { gone = '' } = await withCheckpoints({ gone: ['shared'] });
  leader.others = leader.others.slice(0, 2);
  const { body } = await asked.request('GET', gone);
  expect(body.error).toMatch(/, though it counts: the store of --checkpoint-store had it; docs\/operations\/disaster-recovery\.md /);
});

it('in a group of many members a checkpoint is on a majority, and as many are named as one that counts may name', async () => {
  const { many = '' } = await withCheckpoints({ many: [1] });
  leader.others = Array.from({ length: 32 }, (_, at) => peer(at + 2, others[at % 2]?.url));
  const next = many.replace(/1$/, '2');
  const headers = { 'content-type': 'application/octet-stream' };
  const { body } = await ask({ method: 'PUT', url: `${asked.url}${next}`, key: coordinatorKey, headers, body: bytes });
  expect(new Set(body.locations).size).toBe(bounds.manifestLocationsMax);
  const commit = { bytes: body.bytes, checksum: body.checksum, locations: body.locations, received: {} };
  expect(await asked.post(`${next}/commit`, commit)).toMatchObject({ status: 200, body: { sequence: 2 } });
});

it('checkpoints are copied eight at a time before a promotion is answered', async () => {
  const names = Array.from({ length: 16 }, (_, at) => `p${at}`);
  const paths = await withCheckpoints(Object.fromEntries(names.map((name) => [name, [1]])));
  for (const name of names) await askMember('PUT', asked, paths[name]);
  const held: (() => void)[] = [];
  let most = 0;
  const server = createServer((request, response) => {
    request.resume();
    held.push(() => void response.writeHead(201).end());
    most = Math.max(most, held.length);
    // It answers only once eight are there.
    if (held.length === 8) void turn().then(() => held.splice(0).forEach((answer) => void answer()));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  leader.others = [peer(2, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)];
  const { status, body } = await asked.post('/api/v1/cluster/raft/members/2/promote');
  expect([status, body.uncopied, most]).toEqual([200, undefined, 8]);
  await new Promise((resolve) => void server.close(resolve));
});
