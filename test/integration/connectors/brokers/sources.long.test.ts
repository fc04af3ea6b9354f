import { afterEach, describe, expect, it, vi } from 'vitest';
import { auditedRun, type NumberedPublisher } from './audited-run.ts';
import { type Broker, hasBroker, type RunningBroker } from './containers.ts';
import { advertisedAt, KafkaPublisher, makeTopics, startKafka } from './kafka-publisher.ts';
import { Link } from './link.ts';
import { MqttPublisher, startMosquitto } from './mqtt-publisher.ts';
import { StreamPublisher, startNats } from './nats-publisher.ts';
import { ProgramRun } from './program-run.ts';
import { RedisPublisher, startRedis } from './redis-publisher.ts';
import { longTrouble, type Trouble, troubleFor } from './trouble.ts';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 120_000 });

interface Tried {
  readonly name: string;
  readonly broker: Broker;
  /** `outside`: the port of the link, which `connector` is given too. */
  readonly start: (outside: number) => Promise<RunningBroker>;
  readonly prepare?: (port: number) => Promise<void>;
  readonly connector: (outside: number) => string;
  readonly topic: string;
  readonly publisher: (port: number) => NumberedPublisher;
  readonly trouble: Trouble;
}

const tried: readonly Tried[] = [
  {
    name: 'a group of kafka',
    broker: 'kafka',
    start: (outside) => startKafka(advertisedAt(outside)),
    prepare: (port) => makeTopics(port, ['readings'], 3),
    connector: (port) =>
      `kafka (brokers: "127.0.0.1:${port}", sasl_username: "cep", sasl_password: "secret", group_id: "cep", session_timeout: 3s)`,
    topic: 'readings',
    publisher: (port) => new KafkaPublisher(port, 'readings'),
    trouble: longTrouble,
  },
  {
    name: 'a stream of nats',
    broker: 'nats',
    start: () => startNats(['readings']),
    connector: (port) => `nats (servers: "nats://cep:secret@127.0.0.1:${port}", jetstream: true)`,
    topic: 'readings.>',
    publisher: (port) => new StreamPublisher(port, 'readings.a'),
    trouble: longTrouble,
  },
  {
    name: 'a durable consumer of nats',
    broker: 'nats',
    start: () => startNats(['readings']),
    connector: (port) => `nats (servers: "nats://cep:secret@127.0.0.1:${port}", durable: "cep")`,
    topic: 'readings.>',
    publisher: (port) => new StreamPublisher(port, 'readings.a'),
    trouble: longTrouble,
  },
  {
    name: 'a stream of redis',
    broker: 'redis',
    start: startRedis,
    connector: (port) => `redis_stream (url: "redis://:secret@127.0.0.1:${port}")`,
    topic: 'readings',
    publisher: (port) => new RedisPublisher(port, 'readings'),
    trouble: longTrouble,
  },
  {
    name: 'a group of redis',
    broker: 'redis',
    start: startRedis,
    connector: (port) => `redis_stream (url: "redis://:secret@127.0.0.1:${port}", group: "cep")`,
    topic: 'readings',
    publisher: (port) => new RedisPublisher(port, 'readings'),
    trouble: longTrouble,
  },
  {
    name: 'mqtt',
    broker: 'mosquitto',
    start: startMosquitto,
    connector: (port) => `mqtt (host: "127.0.0.1", port: ${port}, username: "cep", password: "secret")`,
    topic: 'plant/+',
    publisher: (port) => new MqttPublisher(port),
    // One that is killed loses what it has acknowledged and not yet written.
    trouble: { ...longTrouble, brokerKills: 0 },
  },
];

const program = (connector: string, topic: string) => (folder: string) =>
  `
event Reading:
    n: int

connector Broker = ${connector}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Broker, topic: "${topic}")
    .emit(n)
    .to(Out)
`;

for (const { name, broker: image, start, prepare, connector, topic, publisher, trouble } of tried) {
  const has = await hasBroker(image);
  describe.skipIf(!has)(`${name}, read over many kills, and half a minute of silence of two kinds`, () => {
    const open: { stop(): Promise<unknown> }[] = [];
    afterEach(async () => {
      for (const each of open.splice(0)) await each.stop();
    });

    it('gives every message once', async () => {
      let port = 0;
      const link = await Link.to(() => port);
      open.push({ stop: () => link.close() });
      const broker = await start(link.port);
      open.push(broker);
      port = broker.port;
      await prepare?.(port);
      const giver = publisher(broker.port);
      const run = new ProgramRun(program(connector(link.port), topic));
      open.unshift({ stop: () => run.remove() });
      const found = await auditedRun(run, giver, troubleFor({ run, broker, link }, trouble));
      expect(found).toEqual({ lost: [], repeated: [], repeatedIds: [] });
    });
  });
}
