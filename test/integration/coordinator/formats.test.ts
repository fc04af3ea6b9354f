import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FormatAgreement } from '../../../coordinator/cluster/format-agreement.ts';
import { GroupMember } from '../../../coordinator/cluster/group-member.ts';
import { Replica } from '../../../coordinator/cluster/replica.ts';
import { IngressCommits } from '../../../coordinator/ingress/ingress-commits.ts';
import type { Group as PipelineGroup } from '../../../coordinator/state/cluster-state.ts';
import { FIRST_FORMAT, LATEST_FORMAT } from '../../../coordinator/state/format.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../coordinator/state/snapshot.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { Group, wait } from '../raft/group.ts';
import { freePorts, peersOn } from '../raft/local-peers.ts';

/** `reads`: the latest format that its version reads; `takes`: the latest that it lets the group write. */
interface Version {
  readonly reads: number;
  readonly takes: number;
}

const before: Version = { reads: FIRST_FORMAT, takes: FIRST_FORMAT };
const now: Version = { reads: LATEST_FORMAT, takes: LATEST_FORMAT };
const held: Version = { reads: LATEST_FORMAT, takes: FIRST_FORMAT };

const clock = (): number => 1_000;
let folder: string;
let group: Group;
let members: Map<number, { readonly replica: Replica; readonly service: GroupMember; readonly commits: IngressCommits }>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-formats-'));
  group = new Group(folder, peersOn(await freePorts(3)));
  members = new Map();
});
afterEach(async () => {
  await group.stopAll();
  rmSync(folder, { recursive: true, force: true });
});

async function start(id: number, { reads, takes }: Version): Promise<void> {
  const replica = new Replica(reads);
  const { member } = await group.start(id, { state: replica, formatMax: takes });
  const service = new GroupMember({ member, replica, clock });
  members.set(id, { replica, service, commits: new IngressCommits(service) });
  new FormatAgreement({ member, replica, clock, telemetry: new Telemetry(silentLogger, new MetricRegistry()) });
}

const of = (id: number) => members.get(id) as NonNullable<ReturnType<typeof members.get>>;
const formats = (): number[] => [...group.running.keys()].map((id) => of(id).replica.state.format);
const snapshotOf = (id: number): Buffer => Buffer.concat([...encodeSnapshot(of(id).replica.state)]);

/** The member that leads once all of them are connected. */
async function leading(): Promise<number> {
  const leader = await group.leader();
  await vi.waitFor(() => {
    const { role, peers } = group.of(leader).member.status();
    if (role !== 'leader' || peers.some(({ isReachable }) => !isReachable)) throw new Error('not all are connected to a leader');
  }, wait);
  return leader;
}

/** A group of pipelines, once. Gives the id of its placement. */
async function placement(): Promise<string> {
  const { service } = of(await leading());
  const content = { name: 'g', pipelines: [{ name: 'p', source: '', replicas: 1 }], routes: [] };
  await service.propose({ type: 'CreateGroup', payload: content }, undefined);
  return [...service.state.placements.values()][0]?.id as string;
}

/** Events of two requests at once, in whatever format the group has. */
async function append(placementId: string): Promise<void> {
  const { commits, service } = of(await leading());
  const batches = [{ placementId, receivedAtMs: 1, events: '[{"a":"\\""}]', eventCount: 1 }];
  const { last = 0 } = service.state.ingressLogs.get(placementId) ?? {};
  const { id: groupId, version: groupVersion } = [...service.state.groups.values()][0] as PipelineGroup;
  const places = await Promise.all([1, 2].map(() => commits.append({ groupId, groupVersion, batches, request: undefined })));
  expect(places.flat().map(({ sequence }) => sequence)).toEqual([last + 1, last + 2]);
}

async function agree(): Promise<void> {
  await vi.waitFor(() => {
    const [first = Buffer.alloc(0), ...others] = [...group.running.keys()].map(snapshotOf);
    if (others.some((other) => !other.equals(first))) throw new Error('members do not agree');
  }, wait);
}

it('a group writes what its earliest member reads, and the next format once all take it, in snapshots too', async () => {
  await Promise.all([start(1, now), start(2, now), start(3, before)]);
  const id = await placement();
  await append(id);
  await agree();
  expect(formats()).toEqual([1, 1, 1]);
  expect(decodeSnapshot(snapshotOf(1), FIRST_FORMAT).ingressLogs.get(id)?.last).toBe(2);
  await group.stop(3);
  await start(3, held);
  await append(id);
  await agree();
  expect(formats()).toEqual([1, 1, 1]);
  await group.stop(3);
  await start(3, now);
  await vi.waitFor(() => expect(formats()).toEqual([LATEST_FORMAT, LATEST_FORMAT, LATEST_FORMAT]), wait);
  await append(id);
  await agree();
  expect(of(3).replica.state.ingressLogs.get(id)?.last).toBe(6);
  expect(() => decodeSnapshot(snapshotOf(1), FIRST_FORMAT)).toThrow(
    `the snapshot has format ${LATEST_FORMAT}, and this version reads up to 1`,
  );
}, 120_000);

it('a member that reads no later format stops when it meets one, says so, and loses nothing', async () => {
  await Promise.all([start(1, now), start(2, now), start(3, now)]);
  const id = await placement();
  await vi.waitFor(() => expect(formats()).toEqual([LATEST_FORMAT, LATEST_FORMAT, LATEST_FORMAT]), wait);
  await group.stop(3);
  await of(await group.leader()).service.propose({ type: 'SetMember', payload: { id: 3, url: 'http://c' } }, undefined);
  await start(3, before);
  const failure = await group.of(3).member.failed;
  expect(failure.message).toMatch(
    /^entry \d+ of the log cannot be applied: it has format \d, and this version reads up to 1\. Start the version/,
  );
  await group.stop(3);
  await start(3, held);
  await append(id);
  await agree();
  expect(formats()).toEqual([LATEST_FORMAT, LATEST_FORMAT, LATEST_FORMAT]);
}, 120_000);
