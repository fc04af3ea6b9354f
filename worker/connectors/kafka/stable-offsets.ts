/// <reference path="./kafkajs-protocol.d.ts" />

import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { ANSWER_MS_MAX, refusalOf } from './kafka-client.ts';

/** The first version in which offsets are asked for that no transaction is about to change. */
const STABLE_VERSION = 7;
const PAUSE_MS = 20;

/**
 * Teaches the library the version of the question for a group's offsets (OffsetFetch) that waits for transactions (KIP-447); it knows those
 * before, which a broker answers with what the group had last. A broker makes an offset that was written in a transaction the group's only
 * a moment after that transaction has ended, so for this moment the old answer would be of before it. Brokers that do not know the version
 * (before 2.5) are asked as before.
 */
async function addVersion(): Promise<void> {
  const { default: Encoder } = await import('kafkajs/src/protocol/encoder.js');
  const { default: Decoder } = await import('kafkajs/src/protocol/decoder.js');
  const { default: requests } = await import('kafkajs/src/protocol/requests/offsetFetch/index.js');
  type Written = InstanceType<typeof Encoder>;
  type Read = InstanceType<typeof Decoder>;
  const { protocol: known } = requests;
  const latestKnown = Math.max(...requests.versions.map(Number));
  const latest = known({ version: latestKnown });

  /** As many, one after the other; behind each, and behind the whole, stand tagged fields, of which there are none. */
  function write<T>(to: Written, items: readonly T[], writeOne: (item: T) => void): void {
    to.writeUVarInt(items.length + 1);
    for (const item of items) writeOne(item);
  }

  const question: typeof latest = (asked) => {
    const { request, response } = latest(asked);
    const encode = async (): Promise<unknown> => {
      const to = new Encoder();
      // The end of the head of a request, which the library writes as those of earlier versions end.
      to.writeUVarInt(0);
      to.writeUVarIntString(asked.groupId);
      write(to, asked.topics, ({ topic, partitions }) => {
        to.writeUVarIntString(topic);
        write(to, partitions, ({ partition }) => to.writeInt32(partition));
        to.writeUVarInt(0);
      });
      return to.writeBoolean(true).writeUVarInt(0);
    };
    const partitionOf = (from: Read): unknown => {
      const [partition, offset] = [from.readInt32(), String(from.readInt64())];
      from.readInt32(); // The epoch of the leader then.
      const found = { partition, offset, metadata: from.readUVarIntString(), errorCode: from.readInt16() };
      from.readTaggedFields();
      return found;
    };
    const topicOf = (from: Read): unknown => {
      const found = { topic: from.readUVarIntString(), partitions: from.readUVarIntArray(partitionOf) };
      from.readTaggedFields();
      return found;
    };
    const decode = async (bytes: Buffer): Promise<unknown> => {
      const from = new Decoder(bytes);
      from.readTaggedFields();
      const clientSideThrottleTime = from.readInt32();
      const responses = from.readUVarIntArray(topicOf);
      return { throttleTime: 0, clientSideThrottleTime, responses, errorCode: from.readInt16() };
    };
    return { request: { ...request, apiVersion: STABLE_VERSION, encode }, response: { ...response, decode } };
  };
  requests.versions.push(String(STABLE_VERSION));
  // A broker may know versions between the two.
  requests.protocol = ({ version }) => (version >= STABLE_VERSION ? question : known({ version: Math.min(version, latestKnown) }));
}

/** A transaction changes the offsets, or the broker has just begun and reads what it knows of the group. */
const passing: ReadonlySet<unknown> = new Set(['UNSTABLE_OFFSET_COMMIT', 'GROUP_LOAD_IN_PROGRESS']);

let adding: Promise<void> | undefined;

/**
 * The offsets of a group, which no transaction is about to change: it is waited for those that do, and for a broker that has just begun.
 * @throws what is wrong with the cluster, or that a transaction does not end in time
 */
export async function stableOffsets(admin: Admin, groupId: string, topics: readonly string[]): ReturnType<Admin['fetchOffsets']> {
  adding ??= addVersion();
  await adding;
  for (const end = performance.now() + ANSWER_MS_MAX; ; ) {
    try {
      return await admin.fetchOffsets({ groupId, topics: [...topics] });
    } catch (error) {
      if (!passing.has(refusalOf(error)) || performance.now() > end) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
