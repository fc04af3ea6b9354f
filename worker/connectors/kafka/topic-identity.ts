/// <reference path="./kafkajs-protocol.d.ts" />

import type { Cluster } from 'kafkajs';

/** As the protocol numbers it, and the first version whose answer says it. */
const METADATA = { apiKey: 3, apiVersion: 10, apiName: 'Metadata' } as const;
const NO_IDENTITY = '0'.repeat(32);

/** What the library has and does not tell of a broker. */
interface KnownBroker {
  readonly versions: Readonly<Record<number, { readonly maxVersion: number } | undefined>> | null;
  readonly connectionPool: { send(question: unknown): Promise<string> };
}

/**
 * What tells a topic from any other that has its name at another time (KIP-516). Undefined where brokers give topics none (before 2.8), or do
 * not say it. Who leads a partition is asked: it knows of a topic that was made anew as soon as it has its messages.
 */
export async function identityOf(cluster: Cluster, topic: string): Promise<string | undefined> {
  const leader = cluster.findTopicPartitionMetadata(topic).find((partition) => partition.leader >= 0)?.leader;
  if (leader === undefined) return undefined;
  const broker = (await cluster.findBroker({ nodeId: String(leader) })) as unknown as KnownBroker;
  if ((broker.versions?.[METADATA.apiKey]?.maxVersion ?? 0) < METADATA.apiVersion) return undefined;
  const identity = await broker.connectionPool.send(await questionFor(topic));
  return identity === NO_IDENTITY ? undefined : identity;
}

/** The library knows versions of this question whose answers lack the identity. */
async function questionFor(topic: string): Promise<unknown> {
  const { default: Encoder } = await import('kafkajs/src/protocol/encoder.js');
  const { default: Decoder } = await import('kafkajs/src/protocol/decoder.js');
  const encode = async (): Promise<unknown> => {
    const to = new Encoder();
    to.writeUVarInt(0); // The end of the head of a request, which the library writes as those of earlier versions end.
    to.writeUVarInt(2); // One topic: by its name, not by an identity.
    for (let word = 0; word < 4; word++) to.writeInt32(0);
    to.writeUVarIntString(topic).writeUVarInt(0);
    // None is to be made, and nobody's rights are asked for.
    return to.writeBoolean(false).writeBoolean(false).writeBoolean(false).writeUVarInt(0);
  };
  type Read = InstanceType<typeof Decoder>;
  const passBroker = (from: Read): void => {
    from.readInt32();
    from.readUVarIntString();
    from.readInt32();
    from.readUVarIntString();
    from.readTaggedFields();
  };
  const decode = async (bytes: Buffer): Promise<string> => {
    const from = new Decoder(bytes);
    from.readTaggedFields();
    from.readInt32(); // How long clients are to wait.
    from.readUVarIntArray(passBroker);
    from.readUVarIntString(); // The cluster.
    from.readInt32(); // Its controller.
    if (from.readUVarInt() < 2) return NO_IDENTITY;
    from.readInt16(); // What is wrong with the topic: then it has no identity.
    from.readUVarIntString();
    return Array.from({ length: 4 }, () => (from.readInt32() >>> 0).toString(16).padStart(8, '0')).join('');
  };
  return { request: { ...METADATA, encode }, response: { decode, parse: async (identity: string) => identity } };
}
