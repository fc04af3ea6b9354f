import { createRequire } from 'node:module';
import kafkajs, { type KafkaMessage } from 'kafkajs';
import { beforeAll, describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { KafkaClient } from '../../../worker/connectors/kafka/kafka-client.ts';
import { unpackingProblem } from '../../../worker/connectors/kafka/unpacking.ts';

const MIB = 1_048_576;
const require = createRequire(import.meta.url);
const protocol = 'kafkajs/src/protocol';
const { RecordBatch } = require(`${protocol}/recordBatch/v0/index.js`);
const Record = require(`${protocol}/recordBatch/record/v0/index.js`);
const decode = require(`${protocol}/recordBatch/v0/decoder.js`);
const Decoder = require(`${protocol}/decoder.js`);

/** A batch as a producer sends it and a broker gives it: the first offset is 0. */
async function packed(values: readonly Buffer[]): Promise<Buffer> {
  const records = values.map((value, offsetDelta) => Record({ offsetDelta, key: null, value }));
  const batch = await RecordBatch({ compression: kafkajs.CompressionTypes.GZIP, lastOffsetDelta: values.length - 1, records });
  return batch.buffer;
}

async function messagesOf(batch: Buffer): Promise<KafkaMessage[]> {
  // As in an answer, where something stands before and behind it.
  const answer = Buffer.concat([Buffer.alloc(7), batch, Buffer.alloc(7)]);
  const { records } = await decode(new Decoder(answer.subarray(7)));
  return records;
}

describe('a batch of Kafka in gzip', () => {
  beforeAll(async () => {
    const door = new OutboundDoor(NetworkPolicy.everywhere);
    await KafkaClient.open({ door, brokers: ['127.0.0.1:1'], clientId: 'test', login: undefined, tls: undefined });
  });

  it('gives its messages', async () => {
    const found = await messagesOf(await packed([Buffer.from('one'), Buffer.from('two')]));
    expect(found.map((message) => [message.offset, String(message.value), unpackingProblem(message)])).toEqual([
      ['0', 'one', undefined],
      ['1', 'two', undefined],
    ]);
  });

  it('that unpacks to more than memory is for is one message that says so, at its last offset', async () => {
    const before = process.memoryUsage();
    const batch = await packed([Buffer.from('small'), Buffer.alloc(80 * MIB), Buffer.from('small')]);
    const found = await messagesOf(batch);
    expect(found.map(unpackingProblem)).toEqual([
      `found a batch of 3 messages in gzip: it unpacks to more than ${64 * MIB} bytes`,
      null,
      null,
    ]);
    expect(new Set(found.map(({ offset }) => offset))).toEqual(new Set(['2']));
    expect(found[0]?.value?.length).toBeLessThan(MIB);
    expect(process.memoryUsage().heapUsed - before.heapUsed).toBeLessThan(32 * MIB);
  });

  it('that is damaged is one message that says so, with its bytes', async () => {
    const batch = await packed([Buffer.from('one'), Buffer.from('two')]);
    batch.fill(0xff, batch.length - 12);
    const [first, ...others] = await messagesOf(batch);
    expect(first === undefined ? null : unpackingProblem(first)).toMatch(/^found a batch of 2 messages in gzip: it cannot be unpacked \(/);
    expect(first?.value?.subarray(0, 2)).toEqual(Buffer.of(0x1f, 0x8b));
    expect(others.map(unpackingProblem)).toEqual([null]);
  });
});
