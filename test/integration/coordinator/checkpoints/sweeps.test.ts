import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CheckpointStore, checkpointStore, SharedFolderStore } from '../../../../coordinator/checkpoints/checkpoint-store.ts';
import { Checkpoints } from '../../../../coordinator/checkpoints/checkpoints.ts';
import { GroupMember } from '../../../../coordinator/cluster/group-member.ts';
import { MemoryMember } from '../../../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../../../coordinator/cluster/replica.ts';
import { type Command, encodeProposal } from '../../../../coordinator/state/commands.ts';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { WebDoor } from '../../../../shared/outbound/web-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { Telemetry } from '../../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../../shared/telemetry/metric-registry.ts';

const bytes = new TextEncoder().encode('state');
const minuteMs = 60_000;
const web = new WebDoor(new OutboundDoor(NetworkPolicy.everywhere), { connectMs: 1_000, silenceMs: 1_000 });
const telemetry = new Telemetry(silentLogger, new MetricRegistry());
let folder: string;
let replica: Replica;
let group: GroupMember;
let ends: (() => unknown)[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  folder = await mkdtemp(join(tmpdir(), 'cep-sweeps-'));
  ends = [];
  replica = new Replica();
  group = new GroupMember({ member: new MemoryMember({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica }), replica, clock: () => 0 });
  const worker = { id: 'w1', incarnation: 'i1' };
  await agree({ type: 'RegisterWorker', payload: { ...worker, address: 'http://w', version: '1', cpuCores: 1, pipelinesMax: 0 } });
  await agree({ type: 'SetWorkerStatus', payload: { ...worker, status: 'ready' } });
});

afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends) end();
  await rm(folder, { recursive: true, force: true });
});

const agree = async (command: Command) =>
  (await group.propose(command, undefined)).value as { readonly id: string; readonly epoch: number };
const pipelines = (names: readonly string[]) => names.map((name) => ({ name, source: 'stream S = A', replicas: 1 }));

function checkpointsIn(store: CheckpointStore, shared?: CheckpointStore): Checkpoints {
  const checkpoints = new Checkpoints({ group, store, shared, web, apiKey: undefined, telemetry });
  ends.push(() => checkpoints.close());
  return checkpoints;
}

/** A group with a checkpoint of each pipeline; gives its id and its epochs. */
async function deployed(checkpoints: Checkpoints, names: readonly string[]): Promise<{ id: string; epochs: Map<string, number> }> {
  const { id } = await agree({ type: 'CreateGroup', payload: { name: names.join('_'), pipelines: pipelines(names), routes: [] } });
  const epochs = new Map<string, number>();
  for (const name of names) {
    const { epoch } = await agree({ type: 'AssignPlacement', payload: { id: `${id}:${name}:0`, workerId: 'w1' } });
    epochs.set(name, epoch);
    await save(checkpoints, `${id}:${name}:0`, epoch);
  }
  return { id, epochs };
}

async function save(checkpoints: Checkpoints, placementId: string, epoch: number): Promise<void> {
  const locations = await checkpoints.keep({ placementId, epoch, sequence: 1 }, bytes);
  const manifest = { sequence: 1, bytes: bytes.length, checksum: 1, locations, received: {} };
  await agree({ type: 'CommitCheckpoint', payload: { placementId, epoch, ...manifest } });
}

/** Of which placements a folder has anything. */
const folders = async (path: string): Promise<number> => (await readdir(path)).length;
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000, interval: 20 });

it('checkpoints of a pipeline that a group has no longer are removed here and where they are shared', async () => {
  const own = join(folder, 'own');
  const shared = join(folder, 'shared');
  await mkdir(shared);
  const here = checkpointsIn(checkpointStore(own));
  const { id } = await deployed(here, ['a', 'b']);
  const everywhere = checkpointsIn(checkpointStore(own), new SharedFolderStore(shared));
  const { id: other } = await deployed(everywhere, ['c', 'd']);
  expect([await folders(own), await folders(shared)]).toEqual([2, 2]);
  await agree({ type: 'UpdateGroup', payload: { id, pipelines: pipelines(['a']), routes: [] } });
  await agree({ type: 'UpdateGroup', payload: { id: other, pipelines: pipelines(['c']), routes: [] } });
  await eventually(async () => expect([await folders(own), await folders(shared)]).toEqual([1, 1]));
  await agree({ type: 'DeleteGroup', payload: { id } });
  await eventually(async () => expect([await folders(own), await folders(shared)]).toEqual([0, 1]));
});

it('what is written after its pipeline has gone is removed a minute later', async () => {
  const own = join(folder, 'own');
  const checkpoints = checkpointsIn(checkpointStore(own));
  const { id, epochs } = await deployed(checkpoints, ['a', 'b']);
  await agree({ type: 'DeleteGroup', payload: { id } });
  await eventually(async () => expect(await folders(own)).toBe(0));
  await checkpoints.keepHere({ placementId: `${id}:b:0`, epoch: epochs.get('b') as number, sequence: 2 }, bytes);
  await vi.advanceTimersByTimeAsync(minuteMs);
  await eventually(async () => expect(await folders(own)).toBe(0));
});

it('what a shared store did not remove is removed when it answers again', async () => {
  const [shared, away] = [join(folder, 'shared'), join(folder, 'away')];
  await mkdir(shared);
  const checkpoints = checkpointsIn(checkpointStore(undefined), new SharedFolderStore(shared));
  const { id } = await deployed(checkpoints, ['a', 'b']);
  await rename(shared, away);
  await agree({ type: 'DeleteGroup', payload: { id } });
  await vi.advanceTimersByTimeAsync(minuteMs);
  await vi.advanceTimersByTimeAsync(minuteMs);
  await rename(away, shared);
  await eventually(async () => {
    await vi.advanceTimersByTimeAsync(minuteMs);
    expect(await folders(shared)).toBe(0);
  });
});

it('a member that is sent the whole state removes what went meanwhile, and nothing that is newer', async () => {
  const own = join(folder, 'own');
  const checkpoints = checkpointsIn(checkpointStore(own));
  const { id } = await deployed(checkpoints, ['a', 'b']);
  const { id: other } = await deployed(checkpoints, ['c']);
  const ahead = new Replica();
  ahead.restore(Buffer.concat([...replica.save()]));
  const place = () => ({ index: ahead.state.index + 1, term: 1 });
  const agreeAhead = (command: Command) => ahead.apply({ ...place(), data: encodeProposal({ command, request: undefined, atMs: 0 }) });
  agreeAhead({ type: 'DeleteGroup', payload: { id } });
  // Given by a member that knows more than the snapshot says.
  await checkpoints.keepHere({ placementId: `${other}:new:0`, epoch: ahead.state.index + 5, sequence: 1 }, bytes);
  expect(await folders(own)).toBe(4);
  replica.restore(Buffer.concat([...ahead.save()]));
  await eventually(async () => expect(await folders(own)).toBe(2));
});
