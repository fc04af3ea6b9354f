import kafkajs, { type Producer } from 'kafkajs';
import { Arrivals, type BrokerBench, inGroups, payloadOf, rate, read, sent, sourceOf } from './broker-bench.ts';

const { logLevel, Partitioners } = kafkajs;
const topics = ['bare', 'ours', 'readings'];

export const kafkaBench: BrokerBench = {
  name: 'kafka',
  broker: 'kafka',
  start: {
    broker: 'kafka',
    port: 9092,
    environment: (outside) => ({ KAFKA_EXTERNAL: `127.0.0.1:${outside}`, KAFKA_HEAP: '256m' }),
  },
  open: async (port, count) => {
    const brokers = `127.0.0.1:${port}`;
    const kafka = new kafkajs.Kafka({ clientId: 'bare', brokers: [brokers], logLevel: logLevel.NOTHING, retry: { retries: 30 } });
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: 3 })) });
    const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const write = (into: Pick<Producer, 'send'>, topic: string, numbers: readonly number[]): Promise<unknown> =>
      into.send({ topic, acks: -1, messages: numbers.map((n) => ({ value: payloadOf(n), headers: { id: String(n) } })) });
    await inGroups(count, (numbers) => write(producer, 'readings', numbers));
    let groups = 0;
    return {
      close: () => Promise.all([producer.disconnect(), admin.disconnect()]),
      pairs: [
        {
          what: 'sink, acks of all',
          bare: () => rate(count, () => inGroups(count, (numbers) => write(producer, 'bare', numbers))),
          connector: () => sent('kafka', { brokers, topic: 'ours' }, count),
        },
        {
          what: 'topic, read by a group',
          bare: async () => {
            const consumer = kafka.consumer({ groupId: `bare-${++groups}`, maxWaitTimeInMs: 500 });
            await consumer.connect();
            await consumer.subscribe({ topics: ['readings'], fromBeginning: true });
            const arrivals = new Arrivals();
            await new Promise<void>((resolve) => {
              void consumer.run({
                autoCommit: false,
                eachBatch: async ({ batch: { messages, topic, partition } }) => {
                  arrivals.add(messages.length);
                  const offset = String(BigInt(messages.at(-1)?.offset ?? 0) + 1n);
                  await consumer.commitOffsets([{ topic, partition, offset }]);
                  if (arrivals.count >= count) resolve();
                },
              });
            });
            const found = arrivals.rate;
            await consumer.disconnect();
            return found;
          },
          connector: async () => {
            const arrivals = new Arrivals();
            await read(sourceOf('kafka', { brokers, group_id: `ours-${++groups}` }, 'readings'), count, {
              taken: (messages) => arrivals.add(messages),
            });
            return arrivals.rate;
          },
        },
      ],
    };
  },
};
