import type { PartitionAssigner } from 'kafkajs';

/** Partitions by topic. */
export type Assignment = Record<string, number[]>;

/** Members of a group by their ids, each with the topics that it reads. */
export type Subscriptions = ReadonlyMap<string, readonly string[]>;

/** As the protocol calls it, so that members of other programs can share a group. */
const NAME = 'roundrobin';

/**
 * Gives the partitions of each topic in turn to the members that read it. The library's own assigner takes all members to read the same
 * topics, and so leaves partitions to nobody where one group reads several, each from a `.from` of its own.
 */
export async function subscribedAssigner(): Promise<PartitionAssigner> {
  const { AssignerProtocol } = (await import('kafkajs')).default;
  const { MemberAssignment, MemberMetadata } = AssignerProtocol;
  return ({ cluster }) => ({
    name: NAME,
    version: 0,
    protocol: ({ topics }) => ({ name: NAME, metadata: MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }) }),
    assign: async ({ members }) => {
      const subscriptions = new Map(
        members.map(({ memberId, memberMetadata }) => [memberId, MemberMetadata.decode(memberMetadata)?.topics ?? []]),
      );
      const topics = [...new Set([...subscriptions.values()].flat())];
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

/** Every partition goes to one member that reads its topic, to each about as many; the same for the same members. */
export function shareOut(
  subscriptions: Subscriptions,
  partitions: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, Assignment> {
  const shares = new Map<string, Assignment>([...subscriptions.keys()].map((member) => [member, {}]));
  let turn = 0;
  for (const [topic, ids] of [...partitions].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const readers = [...subscriptions].flatMap(([member, topics]) => (topics.includes(topic) ? [member] : [])).sort();
    if (readers.length === 0) continue;
    for (const id of [...ids].sort((a, b) => a - b)) {
      const share = shares.get(readers[turn++ % readers.length] ?? '') ?? {};
      share[topic] = [...(share[topic] ?? []), id];
    }
  }
  return shares;
}
