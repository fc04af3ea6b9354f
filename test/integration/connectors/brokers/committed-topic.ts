import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import type { Delivered } from '../audit.ts';

const MARK = 'mark';
const READ_MS_MAX = 90_000;

/**
 * Everything in a topic that is committed, as a reader sees it who is to see nothing else. It has come to the end when it has read a mark
 * in each partition, which is written now: what a transaction has left open holds up the mark too.
 */
export async function committedIn(kafka: Kafka, topic: string, partitions: number): Promise<readonly Delivered[]> {
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const mark = `${MARK}-${Math.random()}`;
  await producer.send({ topic, acks: -1, messages: Array.from({ length: partitions }, (_, partition) => ({ partition, value: mark })) });
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: `auditor-${Math.random()}`, maxWaitTimeInMs: 100, readUncommitted: false });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const found: Delivered[] = [];
  let marks = 0;
  const read = new Promise<void>((resolve) => {
    void consumer.run({
      autoCommit: false,
      eachMessage: async ({ message: { value } }) => {
        const text = String(value);
        if (text === mark && ++marks === partitions) resolve();
        else if (!text.startsWith(MARK)) found.push(JSON.parse(text) as Delivered);
      },
    });
  });
  const late = sleep(READ_MS_MAX, undefined, { ref: false }).then(() => Promise.reject(new Error('the marks do not come')));
  await Promise.race([read, late]);
  await consumer.disconnect();
  return found;
}
