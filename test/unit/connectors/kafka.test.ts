import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { type Subscription, shareOut, subscribedAssigner } from '../../../worker/connectors/kafka/partition-assigner.ts';
import { TakenOffsets } from '../../../worker/connectors/kafka/taken-offsets.ts';
import { openSink, openSource, settingsOf } from '../../../worker/connectors/registry.ts';

const scope = { cluster: 'c', group: 'g', topic: 't' };

describe('offsets that were taken', () => {
  const taken = (next: bigint): TakenOffsets => new TakenOffsets(scope, new TakenOffsets(scope, null).with(0, next));
  const ends = { low: 5n, high: 50n };

  it('come back from a position, past what a number can hold', () => {
    const next = 2n ** 62n;
    expect(taken(next).next(0)).toBe(next);
    expect(taken(next).next(1)).toBeUndefined();
  });

  it.each(['cluster', 'group', 'topic'] as const)('of another %s say nothing', (name) => {
    const position = new TakenOffsets(scope, null).with(0, 7n);
    expect(new TakenOffsets({ ...scope, [name]: 'other' }, position).next(0)).toBeUndefined();
  });

  it('count before those of the group where they are ahead, and behind them where they are not', () => {
    expect(taken(20n).beginning(0, { committed: 10n, ...ends }, 'earliest')).toBe(20n);
    expect(taken(20n).beginning(0, { committed: 30n, ...ends }, 'earliest')).toBe(30n);
    expect(taken(20n).beginning(0, { committed: undefined, ...ends }, 'latest')).toBe(20n);
    expect(taken(20n).beginning(1, { committed: 30n, ...ends }, 'latest')).toBe(30n);
  });

  it('that nobody has, or that the topic does not reach, leave it to the start', () => {
    for (const offsets of [new TakenOffsets(scope, null), taken(51n)]) {
      expect(offsets.beginning(0, { committed: undefined, ...ends }, 'earliest')).toBe(5n);
      expect(offsets.beginning(0, { committed: 60n, ...ends }, 'latest')).toBe(50n);
    }
  });
});

describe('a topic', () => {
  const of = (identity: string | undefined) => ({ ...scope, identity });
  const nothing = { committed: undefined, low: 5n, high: 50n };

  it('that was made anew is read from its beginning, wherever its readers begin and however far the last one was read', () => {
    const position = new TakenOffsets(of('one'), null).with(0, 20n);
    for (const start of ['earliest', 'latest'] as const) {
      expect(new TakenOffsets(of('one'), position).beginning(0, nothing, start)).toBe(20n);
      expect(new TakenOffsets(of('other'), position).beginning(0, nothing, start)).toBe(5n);
    }
    expect(new TakenOffsets(of('other'), position).beginning(0, { ...nothing, committed: 7n }, 'latest')).toBe(7n);
  });

  it('of which the brokers or a position do not say which one it is, is the same as before', () => {
    for (const [before, now] of [
      ['one', undefined],
      [undefined, 'one'],
    ]) {
      const position = new TakenOffsets(of(before), null).with(0, 20n);
      expect(new TakenOffsets(of(now), position).beginning(0, nothing, 'latest')).toBe(20n);
    }
  });

  it('gets partitions, which are read from their beginning, and those that it had before from where readers begin', () => {
    const before = new TakenOffsets(scope, null);
    before.count(2, () => false);
    const after = new TakenOffsets(scope, before.position);
    expect([0, 1, 2].map((partition) => after.beginning(partition, nothing, 'latest'))).toEqual([50n, 50n, 5n]);
    after.count(3, () => true);
    expect(after.beginning(2, nothing, 'latest')).toBe(50n);
  });

  it('gets a partition that nobody has begun with, and it stays new until somebody has, however often partitions are counted', () => {
    const taken = new TakenOffsets(scope, null);
    taken.count(1, () => false);
    for (const begun of [[], [2]]) {
      taken.count(3, (partition) => begun.includes(partition));
      expect([1, 2].map((partition) => taken.beginning(partition, nothing, 'latest'))).toEqual([5n, 5n]);
    }
    taken.count(3, (partition) => partition === 1);
    expect([1, 2].map((partition) => taken.beginning(partition, nothing, 'latest'))).toEqual([50n, 5n]);
  });

  it('that has lost what was not read yet is read from what it still has, or from its end', () => {
    const taken = new TakenOffsets(scope, new TakenOffsets(scope, null).with(0, 3n));
    expect(taken.goneFrom(0, nothing)).toBe(3n);
    expect(taken.beginning(0, nothing, 'earliest')).toBe(5n);
    expect(taken.beginning(0, nothing, 'latest')).toBe(50n);
    expect(taken.goneFrom(0, { ...nothing, committed: 5n })).toBeUndefined();
    expect(taken.goneFrom(1, nothing)).toBeUndefined();
  });
});

describe('the partitions of a group', () => {
  it('each go to one member that reads the topic, to each about as many', () => {
    const members = new Map([
      ['a', { topics: ['x', 'y'] }],
      ['b', { topics: ['x'] }],
      ['c', { topics: ['z'] }],
    ]);
    const partitions = new Map([
      ['x', [2, 0, 1]],
      ['y', [0, 1]],
      ['z', [0]],
    ]);
    expect(Object.fromEntries(shareOut(members, partitions))).toEqual({ a: { x: [0, 2], y: [0, 1] }, b: { x: [1] }, c: { z: [0] } });
  });

  it('of a topic with any name are shared out', () => {
    const members = new Map([['a', { topics: ['constructor'] }]]);
    expect(shareOut(members, new Map([['constructor', [0, 1]]])).get('a')).toEqual({ constructor: [0, 1] });
  });

  it('are shared out in the same way whatever order members and partitions come in', () => {
    const one = shareOut(
      new Map([
        ['a', { topics: ['x'] }],
        ['b', { topics: ['x'] }],
      ]),
      new Map([['x', [0, 1, 2]]]),
    );
    const other = shareOut(
      new Map([
        ['b', { topics: ['x'] }],
        ['a', { topics: ['x'] }],
      ]),
      new Map([['x', [2, 1, 0]]]),
    );
    expect(Object.fromEntries(other)).toEqual(Object.fromEntries(one));
  });
});

describe('a kafka connector', () => {
  const environment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) };
  const settings = (more: readonly (readonly [string, unknown])[]) => settingsOf('K', 'kafka', [['brokers', 'k1, k2:9093'], ...more]);

  it.each([
    [[['brokers', 'k1:port']], /'k1:port' is no address of a broker/],
    [[['brokers', '']], /'' is no address of a broker/],
    [[['brokers', 'kafka://k1:9092']], /is no address of a broker/],
    [[['brokers', 'k1:99999']], /is no address of a broker/],
    [[['sasl_username', 'cep']], /needs both a user and a password/],
    [[['compression', 'zstd']], /found compression 'zstd'/],
    [[['exactly_once', true]], /needs a state directory/],
    [[['transactional_id', 'x']], /needs a state directory/],
    [[['ssl_ca', '/elsewhere/ca.pem']], /not in the work directory/],
  ] as const)('with %j is refused', (parameters, message) => {
    expect(() => openSink(settings(parameters), environment)).toThrow(message);
  });

  it('takes certificates as files that its owner may use, and as texts; what cannot be read is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cep-pem-'));
    const withFiles = { ...environment, filePath: (path: string) => join(folder, path) };
    writeFileSync(join(folder, 'ca.pem'), '-----BEGIN CERTIFICATE-----\n');
    await openSink(settings([['ssl_ca', 'ca.pem']]), withFiles).close();
    await openSink(settings([['ssl_ca', '-----BEGIN CERTIFICATE-----\n']]), environment).close();
    expect(() => openSink(settings([['ssl_key', 'none.pem']]), withFiles)).toThrow(/ssl_key cannot be read: ENOENT/);
    rmSync(folder, { recursive: true });
  });

  it('without a topic has nothing to read', () => {
    expect(() => openSource({ ...settings([]), subscription: 's', topic: null, textFields: [] }, environment)).toThrow(/no topic to read/);
  });

  it.each(['', '.', 'a b', 'a/b', 'x'.repeat(250)])('does not write to a topic called %j', async (topic) => {
    const sink = openSink(settings([]), environment);
    await expect(sink.send({ id: '1', topic, payload: '{}' })).rejects.toMatchObject({ code: 'bad_topic', isPermanent: true });
  });

  const replica = (index: number, epoch = 1, count = 2) => ({ topics: ['x'], replica: { index, count, epoch } });
  const shares = (members: Record<string, ReturnType<typeof replica>>) =>
    Object.fromEntries(shareOut(new Map(Object.entries(members)), new Map([['x', [0, 1, 2, 3, 4]]])));

  it("are the same replica's always, and nobody's while it has no worker", () => {
    expect(shares({ b: replica(0), a: replica(1) })).toEqual({ b: { x: [0, 2, 4] }, a: { x: [1, 3] } });
    expect(shares({ a: replica(1) })).toEqual({ a: { x: [1, 3] } });
  });

  it('are those of the process that was given a replica last', () => {
    expect(shares({ a: replica(0, 3), b: replica(0, 9), c: replica(1, 2) })).toEqual({ a: {}, b: { x: [0, 2, 4] }, c: { x: [1, 3] } });
  });

  it('are divided by the greater number of replicas while that is changed', () => {
    expect(shares({ a: replica(0), b: replica(1), c: replica(2, 5, 3) })).toEqual({ a: { x: [0, 3] }, b: { x: [1, 4] }, c: { x: [2] } });
  });

  it('are shared out in turn where a member reads for no replica', () => {
    const members = new Map<string, Subscription>([
      ['a', replica(1)],
      ['b', { topics: ['x'] }],
    ]);
    expect(Object.fromEntries(shareOut(members, new Map([['x', [0, 1]]])))).toEqual({ a: { x: [0] }, b: { x: [1] } });
  });

  it('are given to the replica that a member names to the group', async () => {
    const topic = { cluster: { addMultipleTargetTopics: async () => undefined, findTopicPartitionMetadata: () => partitionsOf(4) } };
    const assigners = await Promise.all(
      [0, 1].map(async (index) => (await subscribedAssigner({ index, count: 2, epoch: 7 }))(topic as never)),
    );
    const members = assigners.map((assigner, at) => ({
      memberId: `m${at}`,
      memberMetadata: assigner.protocol({ topics: ['x'] }).metadata,
    }));
    const assigned = await assigners[0]?.assign({ members, topics: ['x'] } as never);
    const { MemberAssignment } = kafkajs.AssignerProtocol;
    expect(assigned?.map(({ memberAssignment }) => MemberAssignment.decode(memberAssignment)?.assignment)).toEqual([
      { x: [0, 2] },
      { x: [1, 3] },
    ]);
  });
});

function partitionsOf(count: number): { partitionId: number }[] {
  return Array.from({ length: count }, (_, partitionId) => ({ partitionId }));
}
