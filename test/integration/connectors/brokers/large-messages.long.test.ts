import { readFileSync } from 'node:fs';
import kafkajs from 'kafkajs';
import { connectAsync } from 'mqtt';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Broker, hasBroker, RunningBroker } from './containers.ts';
import { startMosquitto } from './mqtt-publisher.ts';
import { clientOf as natsClient } from './nats-publisher.ts';
import { ProgramRun } from './program-run.ts';
import { clientOf as redisClient, startRedis } from './redis-publisher.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 240_000 });

const MIB = 1_048_576;
/** Of the process that reads, whatever comes: what it is without, and a few copies of the message. */
const RESIDENT_BYTES_MAX = 900 * MIB;
const wait = { timeout: 240_000, interval: 100 };

const kafkaConfig = ['message.max.bytes', 'socket.request.max.bytes', 'replica.fetch.max.bytes'].map((name) => `${name}=${160 * MIB}\n`);
const natsConfig = `listen: 0.0.0.0:4222
max_payload: ${64 * MIB}
jetstream { store_dir: /var/lib/nats }
authorization { users = [ { user: cep, password: secret } ] }
`;

function startLargeNats(): Promise<RunningBroker> {
  const command = ['nats-server', '-c', '/tmp/nats.conf'];
  return RunningBroker.start({ broker: 'nats', port: 4222, command, files: { '/tmp/nats.conf': natsConfig } });
}

interface Tried {
  readonly name: string;
  readonly broker: Broker;
  /** Of the message that no event can be. */
  readonly bytes: number;
  /** Nothing is kept before somebody listens. @default false */
  readonly isListenedTo?: boolean;
  readonly start: () => Promise<RunningBroker>;
  readonly connector: (port: number) => string;
  readonly publish: (port: number, payloads: readonly Buffer[]) => Promise<void>;
}

const tried: readonly Tried[] = [
  {
    name: 'kafka',
    broker: 'kafka',
    bytes: 100 * MIB,
    start: () =>
      RunningBroker.start({
        broker: 'kafka',
        port: 9092,
        environment: (outside) => ({ KAFKA_EXTERNAL: `127.0.0.1:${outside}`, KAFKA_HEAP: '700m', KAFKA_CONFIG: kafkaConfig.join('') }),
      }),
    connector: (port) => `kafka (brokers: "127.0.0.1:${port}")`,
    publish: async (port, payloads) => {
      const kafka = new kafkajs.Kafka({ brokers: [`127.0.0.1:${port}`], requestTimeout: 120_000, retry: { retries: 20 } });
      const [admin, producer] = [kafka.admin(), kafka.producer()];
      await admin.connect();
      await admin.createTopics({ topics: [{ topic: 'readings', numPartitions: 1 }] });
      await producer.connect();
      for (const value of payloads) await producer.send({ topic: 'readings', timeout: 120_000, messages: [{ value }] });
      await Promise.all([admin.disconnect(), producer.disconnect()]);
    },
  },
  {
    // A stream of nats-server 2.9.10 keeps none of more than 32 MiB: 33 are acknowledged, and there is no such message then.
    name: 'a stream of nats',
    broker: 'nats',
    bytes: 31 * MIB,
    start: startLargeNats,
    connector: (port) => `nats (servers: "nats://cep:secret@127.0.0.1:${port}", jetstream: true)`,
    publish: async (port, payloads) => {
      const client = await natsClient(port);
      await (await client.jetstreamManager()).streams.add({ name: 'readings', subjects: ['readings'] });
      for (const payload of payloads) await client.jetstream().publish('readings', payload, { timeout: 120_000 });
      await client.close();
    },
  },
  {
    // Its servers allow no more than what may wait for a client (max_pending), which is 64 MiB.
    name: 'a subject of nats',
    broker: 'nats',
    bytes: 63 * MIB,
    isListenedTo: true,
    start: startLargeNats,
    connector: (port) => `nats (servers: "nats://cep:secret@127.0.0.1:${port}")`,
    publish: async (port, payloads) => {
      const client = await natsClient(port);
      for (const payload of payloads) {
        client.publish('readings', payload);
        await client.flush();
      }
      await client.close();
    },
  },
  {
    name: 'mqtt',
    broker: 'mosquitto',
    bytes: 100 * MIB,
    isListenedTo: true,
    start: startMosquitto,
    connector: (port) => `mqtt (host: "127.0.0.1", port: ${port}, username: "cep", password: "secret")`,
    publish: async (port, payloads) => {
      const client = await connectAsync({ port, host: '127.0.0.1', username: 'cep', password: 'secret', reconnectPeriod: 0 });
      for (const payload of payloads) await client.publishAsync('readings', payload, { qos: 1 });
      await client.endAsync();
    },
  },
  {
    name: 'a stream of redis',
    broker: 'redis',
    bytes: 100 * MIB,
    start: startRedis,
    connector: (port) => `redis_stream (url: "redis://:secret@127.0.0.1:${port}", group: "cep")`,
    publish: async (port, payloads) => {
      const client = redisClient(port);
      for (const payload of payloads) await client.xadd('readings', '*', 'payload', payload);
      client.disconnect();
    },
  },
];

const program = (connector: string) => (folder: string) =>
  `
event Reading:
    n: int

connector Broker = ${connector}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Broker, topic: "readings")
    .emit(n)
    .to(Out)
`;

/** The most memory that a process has had. */
function residentBytesOf(pid: number | undefined): number {
  const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

for (const { name, broker: image, bytes, isListenedTo = false, start, connector, publish } of tried) {
  describe.skipIf(process.platform !== 'linux' || !(await hasBroker(image)))(name, () => {
    const open: { stop(): Promise<unknown> }[] = [];
    afterEach(async () => {
      for (const each of open.splice(0)) await each.stop();
    });

    it('makes a dead letter of a message that no event can be, in bounded memory, and what follows is read', async () => {
      const broker = await start();
      open.push(broker);
      const event = (n: number): Buffer => Buffer.from(`{"event_type":"Reading","n":${n}}`);
      const run = new ProgramRun(program(connector(broker.port)));
      open.unshift({ stop: () => run.remove() });
      const messages = [event(1), Buffer.alloc(bytes, 'a'), event(2)];
      if (!isListenedTo) await publish(broker.port, messages);
      const cep = await run.startReading();
      if (isListenedTo) await publish(broker.port, messages);
      await vi.waitFor(() => expect(run.delivered('out.jsonl').map(({ data }) => data['n'])).toEqual([1, 2]), wait);
      expect(residentBytesOf(cep.child.pid)).toBeLessThan(RESIDENT_BYTES_MAX);
      expect((await run.end('SIGINT'))?.code).toBe(0);
      expect(run.letters()).toMatchObject([{ connector: 'Broker', event: { data: { raw_bytes: expect.any(Number) } } }]);
    });
  });
}
