import { CompressionTypes } from 'kafkajs';
import { afterEach, expect, it, vi } from 'vitest';
import { hasBroker, type RunningBroker } from './containers.ts';
import { makeTopics, producerOf, startKafka } from './kafka-publisher.ts';
import { alertsOfReplicas, alertsOnce } from './moved-source.ts';
import { clientOf, startNats } from './nats-publisher.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 90_000 });

const ends: (() => Promise<unknown>)[] = [];
let broker: RunningBroker | undefined;
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await broker?.stop();
});

it.skipIf(!(await hasBroker('kafka'))).each([
  ['say', true],
  ['do not say', false],
])(
  'replicas share the partitions of a topic whose messages %s a time, and those of a killed worker are gone on with',
  async (_what, isTimed) => {
    broker = await startKafka();
    const { port } = broker;
    await makeTopics(port, ['readings'], 4);
    const producer = await producerOf(port);
    ends.push(() => producer.disconnect());
    const address = `brokers: "127.0.0.1:${port}", sasl_username: "cep", sasl_password: "secret"`;
    const alerts = await alertsOfReplicas({
      connector: `kafka (${address}, session_timeout: 3s)`,
      ...{ from: 'topic: "readings"', isTimed },
      send: async (event) => {
        const messages = [{ key: event.k, value: JSON.stringify(event) }];
        await producer.send({ topic: 'readings', acks: -1, compression: CompressionTypes.GZIP, messages });
      },
    });
    expect(alerts).toEqual(alertsOnce);
  },
);

it.skipIf(!(await hasBroker('nats'))).each([
  ['a durable consumer', ', durable: "moved"'],
  ['positions of their own', ''],
])('replicas share a stream of nats by the key, with %s', async (_how, durable) => {
  broker = await startNats(['readings']);
  const { port } = broker;
  const client = await clientOf(port);
  ends.push(() => client.close());
  const alerts = await alertsOfReplicas({
    connector: `nats (servers: "nats://cep:secret@127.0.0.1:${port}", jetstream: true)`,
    from: `subject: "readings.>"${durable}`,
    send: async (event) => void (await client.jetstream().publish('readings.all', JSON.stringify(event), { timeout: 10_000 })),
  });
  expect(alerts).toEqual(alertsOnce);
});
