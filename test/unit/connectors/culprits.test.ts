import { afterEach, describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { Sink } from '../../../worker/connectors/connector.ts';
import { type DeadLetter, eachLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { SinkQueue } from '../../../worker/connectors/delivery/sink-queue.ts';
import { KafkaSink } from '../../../worker/connectors/kafka/kafka-sink.ts';
import type { Addressed } from '../../../worker/connectors/kafka/kafka-writer.ts';
import { MqttSink } from '../../../worker/connectors/mqtt/mqtt-sink.ts';
import { NatsSink } from '../../../worker/connectors/nats/nats-sink.ts';
import { MqttBroker } from './mqtt-broker.ts';
import { NatsServer } from './nats-server.ts';

const EVENTS = 300;
const CULPRIT = 50;
const RETRIES = 3;
const ATTEMPTS = RETRIES + 1;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const door = new OutboundDoor(NetworkPolicy.everywhere);

interface Sent {
  readonly delivered: number;
  readonly letters: readonly Pick<DeadLetter, 'id' | 'code' | 'attempts'>[];
  readonly state: SinkQueue['state'];
}

/** Sends events, one of them to a topic of its own. */
async function sendWithCulprit(sink: Sink, [good, bad]: readonly [string, string]): Promise<Sent> {
  const deadLetters = new MemoryDeadLetters(10_000);
  const queue = new SinkQueue({
    pipelineId: 'p',
    name: 'Sink',
    sink,
    deadLetters,
    retries: RETRIES,
    failureThreshold: 5,
    resetTimeoutMs: 30_000,
    report: () => undefined,
    onChange: () => undefined,
    redact: (text) => text,
    pause: async () => undefined,
  });
  closing.push(() => queue.close());
  const common = { stream: 'S', type: 'S', time: 0, message: null, format: 'envelope', omitNull: false } as const;
  for (let n = 0; n < EVENTS; n++) queue.push({ ...common, id: `${n}`, fieldsJson: `{"n":${n}}`, topic: n === CULPRIT ? bad : good });
  await queue.idle();
  const letters: Sent['letters'][number][] = [];
  for await (const { id, code, attempts } of eachLetter(deadLetters, 'p')) letters.push({ id, code, attempts });
  return { delivered: queue.tally.delivered, letters, state: queue.state };
}

function onlyCulprit(code: string, attempts: number): Sent {
  return { delivered: EVENTS - 1, letters: [{ id: `${CULPRIT}`, code, attempts }], state: 'closed' };
}

async function natsSink(
  options: Parameters<typeof NatsServer.start>[0],
  isJetStream: boolean,
): Promise<{ sink: NatsSink; server: NatsServer }> {
  const server = await NatsServer.start(options);
  closing.push(() => server.close());
  const address = { door, servers: [{ host: '127.0.0.1', port: server.port }], tls: false, login: undefined };
  return { sink: new NatsSink({ address, subject: undefined, isJetStream, stream: undefined }), server };
}

/** A cluster that has one topic, of which it says something else of another. */
class Cluster {
  readonly written = new Map<string, number>();
  readonly refusal = undefined;
  readonly #type: string;

  constructor(type: string) {
    this.#type = type;
  }

  async write(addressed: readonly Addressed[]): Promise<void> {
    for (const { message, topic } of addressed) if (topic !== 'bad') this.written.set(message.id, (this.written.get(message.id) ?? 0) + 1);
    if (addressed.some(({ topic }) => topic === 'bad')) throw Object.assign(new Error('refused'), { type: this.#type });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe('one message of a batch', () => {
  it('over which an MQTT broker ends the connection is the only dead letter', async () => {
    const broker = await MqttBroker.start((text) => text.includes(`"n":${CULPRIT}}`));
    closing.push(() => broker.close());
    const address = { door, host: '127.0.0.1', port: broker.port, tls: false, username: undefined, password: undefined };
    const sink = new MqttSink({ address, clientId: undefined, topic: undefined, qos: 1 });
    expect(await sendWithCulprit(sink, ['t', 't'])).toEqual(onlyCulprit('mqtt_error', ATTEMPTS));
    expect(broker.published.size).toBe(EVENTS);
  });

  it.each([[true], [false]])(
    'over which a NATS server ends the connection is the only dead letter (JetStream: %s)',
    async (isJetStream) => {
      const { sink, server } = await natsSink({ cut: ['bad'], ...(isJetStream ? { streamErrors: {} } : {}) }, isJetStream);
      expect(await sendWithCulprit(sink, ['good', 'bad'])).toEqual(onlyCulprit('nats_error', ATTEMPTS));
      expect(server.published.size).toBe(EVENTS - 1);
    },
  );

  it.each([
    { err_code: 10054, code: 400, description: 'message size exceeds maximum allowed', attempts: 1 },
    { err_code: 10060, code: 400, description: 'expected stream does not match', attempts: 1 },
    { err_code: 10077, code: 503, description: 'maximum messages exceeded', attempts: ATTEMPTS },
  ])('that a stream does not take costs no connection: $description', async ({ attempts, ...error }) => {
    const { sink, server } = await natsSink({ streamErrors: { bad: error } }, true);
    expect(await sendWithCulprit(sink, ['good', 'bad'])).toEqual(onlyCulprit('nats_error', attempts));
    expect([server.connections, server.published.size]).toEqual([1, EVENTS]);
  });

  it.each(['TOPIC_AUTHORIZATION_FAILED', 'UNKNOWN_TOPIC_OR_PARTITION', 'NOT_ENOUGH_REPLICAS'])(
    'to a topic of which a Kafka cluster says %s is the only dead letter, and no other is written more than twice',
    async (type) => {
      const cluster = new Cluster(type);
      const sink = new KafkaSink({ writer: cluster, topic: undefined, batchMessages: 500, awaitsCheckpoint: false });
      const code = type === 'UNKNOWN_TOPIC_OR_PARTITION' ? 'unknown_topic' : 'kafka_error';
      expect(await sendWithCulprit(sink, ['good', 'bad'])).toEqual(onlyCulprit(code, ATTEMPTS));
      expect([cluster.written.size, Math.max(...cluster.written.values())]).toEqual([EVENTS - 1, 2]);
    },
  );

  it('of which a Kafka cluster cannot say anything, as nobody can reach it, fails with the others', async () => {
    const writer = {
      refusal: undefined,
      write: () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { name: 'KafkaJSConnectionError' })),
      close: async () => undefined,
    };
    const sink = new KafkaSink({ writer, topic: undefined, batchMessages: 500, awaitsCheckpoint: false });
    const messages = ['a', 'b'].map((topic, n) => ({ id: `${n}`, topic, payload: '{}' }));
    const outcomes = await sink.batching.send(messages);
    expect(outcomes.map(String)).toEqual(Array(2).fill('DeliveryFailure: connect ECONNREFUSED'));
  });
});
