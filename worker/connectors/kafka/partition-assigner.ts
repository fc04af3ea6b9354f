import type { PartitionAssigner } from 'kafkajs';
import type { ReplicaReading } from '../connector.ts';

/** Partitions by topic. */
export type Assignment = Record<string, number[]>;

/** What a member of a group reads. */
export interface Subscription {
  readonly topics: readonly string[];
  /** For which replica of a pipeline. @default for none */
  readonly replica?: MemberReplica | undefined;
}

type MemberReplica = Pick<ReplicaReading, 'index' | 'count' | 'epoch'>;

/** Members of a group by their ids. */
export type Subscriptions = ReadonlyMap<string, Subscription>;

/** As the protocol calls it, so that members of other programs can share a group. */
const NAME = 'roundrobin';

/**
 * Gives the partitions of each topic in turn to the members that read it. The library's own assigner takes all members to read the same
 * topics, and so leaves partitions to nobody where one group reads several, each from a `.from` of its own.
 *
 * A partition of a pipeline with replicas is always the same replica's, wherever that runs: the state that its events made is there, with the
 * offset behind them. While a replica has no worker its partitions are nobody's.
 */
export async function subscribedAssigner(replica?: MemberReplica): Promise<PartitionAssigner> {
  const { AssignerProtocol } = (await import('kafkajs')).default;
  const { MemberAssignment, MemberMetadata } = AssignerProtocol;
  return ({ cluster }) => ({
    name: NAME,
    version: 0,
    protocol: ({ topics }) => ({ name: NAME, metadata: MemberMetadata.encode({ version: 0, topics, userData: encodedReplica(replica) }) }),
    assign: async ({ members }) => {
      const subscriptions = new Map(
        members.map(({ memberId, memberMetadata }): [string, Subscription] => {
          const { topics = [], userData } = MemberMetadata.decode(memberMetadata) ?? {};
          return [memberId, { topics, replica: decodedReplica(userData) }];
        }),
      );
      const topics = [...new Set([...subscriptions.values()].flatMap((one) => one.topics))];
      await cluster.addMultipleTargetTopics(topics);
      const partitions = new Map(
        topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId)]),
      );
      return Array.from(shareOut(subscriptions, partitions), ([memberId, assignment]) => ({
        memberId,
        memberAssignment: MemberAssignment.encode({ version: 0, assignment, userData: Buffer.alloc(0) }),
      }));
    },
  });
}

/**
 * Every partition goes to one member that reads its topic, to each about as many; the same for the same members. Where all members read for
 * replicas it goes to its replica, and of several processes of one replica to the one that was started last.
 */
export function shareOut(
  subscriptions: Subscriptions,
  partitions: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, Assignment> {
  const shares = new Map<string, Assignment>([...subscriptions.keys()].map((member) => [member, {}]));
  let turn = 0;
  for (const [topic, ids] of [...partitions].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const readers = [...subscriptions].flatMap(([member, { topics }]) => (topics.includes(topic) ? [member] : [])).sort();
    if (readers.length === 0) continue;
    const replicas = readers.map((member) => subscriptions.get(member)?.replica);
    const inTurn = (): string | undefined => readers[turn++ % readers.length];
    const readerOf = replicas.every((one) => one !== undefined) ? (id: number) => readers[newestOf(replicas, id)] : inTurn;
    for (const id of [...ids].sort((a, b) => a - b)) {
      const share = shares.get(readerOf(id) ?? '') ?? {};
      share[topic] = [...(Object.hasOwn(share, topic) ? (share[topic] ?? []) : []), id];
    }
  }
  return shares;
}

/** The place of whoever reads for the replica that has a partition; -1 when nobody does. */
function newestOf(replicas: readonly MemberReplica[], partition: number): number {
  const count = Math.max(...replicas.map((one) => one.count));
  let newest = -1;
  for (const [at, { index, epoch }] of replicas.entries()) {
    if (index === partition % count && epoch > (replicas[newest]?.epoch ?? -1)) newest = at;
  }
  return newest;
}

function encodedReplica(replica: MemberReplica | undefined): Buffer {
  if (replica === undefined) return Buffer.alloc(0);
  const { index, count, epoch } = replica;
  return Buffer.from(JSON.stringify({ cep_replica: [index, count, epoch] }));
}

/** Undefined for what another program has sent. */
function decodedReplica(userData: Buffer | undefined): MemberReplica | undefined {
  try {
    const { cep_replica: told } = JSON.parse(String(userData)) as { readonly cep_replica?: unknown };
    if (!Array.isArray(told) || told.length !== 3 || !told.every((one) => Number.isSafeInteger(one) && one >= 0)) return undefined;
    const [index, count, epoch] = told as [number, number, number];
    return { index, count, epoch };
  } catch {
    return undefined;
  }
}
