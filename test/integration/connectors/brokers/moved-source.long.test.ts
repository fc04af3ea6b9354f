import { afterEach, expect, it, vi } from 'vitest';
import { hasBroker, type RunningBroker } from './containers.ts';
import { KafkaPublisher, makeTopics, startKafka } from './kafka-publisher.ts';
import { allPairs, pairsOverKill } from './moved-source.ts';
import { MqttPublisher, startMosquitto } from './mqtt-publisher.ts';
import { StreamPublisher, startNats } from './nats-publisher.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 90_000 });

let broker: RunningBroker | undefined;
afterEach(() => broker?.stop());

const login = 'username: "cep", password: "secret"';

it.skipIf(!(await hasBroker('kafka')))('a group of kafka is told of no message that a killed worker alone had', async () => {
  broker = await startKafka();
  // Of several, one may be ahead of the others when both are read again.
  await makeTopics(broker.port, ['readings'], 1);
  const address = `brokers: "127.0.0.1:${broker.port}", sasl_username: "cep", sasl_password: "secret"`;
  const connector = `kafka (${address}, group_id: "moved", session_timeout: 3s)`;
  const publisher = new KafkaPublisher(broker.port, 'readings');
  expect(await pairsOverKill({ connector, from: 'topic: "readings"', publisher })).toEqual(allPairs);
});

it.skipIf(!(await hasBroker('nats')))('a durable consumer of nats is told of no message that a killed worker alone had', async () => {
  broker = await startNats(['readings']);
  const connector = `nats (servers: "nats://cep:secret@127.0.0.1:${broker.port}")`;
  const publisher = new StreamPublisher(broker.port, 'readings.all');
  expect(await pairsOverKill({ connector, from: 'subject: "readings.>", durable: "moved"', publisher })).toEqual(allPairs);
});

it.skipIf(!(await hasBroker('mosquitto')))('an mqtt broker is told of no message that a killed worker alone had', async () => {
  broker = await startMosquitto();
  const connector = `mqtt (host: "127.0.0.1", port: ${broker.port}, ${login})`;
  const publisher = new MqttPublisher(broker.port);
  expect(await pairsOverKill({ connector, from: 'topic: "plant/readings"', publisher })).toEqual(allPairs);
});
