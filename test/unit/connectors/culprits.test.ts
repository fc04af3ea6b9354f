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

  const ofCluster = [
    ...['REQUEST_TIMED_OUT', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'NETWORK_EXCEPTION', 'KAFKA_STORAGE_ERROR', 'UNKNOWN'],
    ...['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION', 'BROKER_NOT_AVAILABLE', 'REPLICA_NOT_AVAILABLE', 'FENCED_LEADER_EPOCH'],
    ...['OUT_OF_ORDER_SEQUENCE_NUMBER', 'DUPLICATE_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_ID_MAPPING'],
    ...['INVALID_PRODUCER_EPOCH', 'INVALID_TXN_STATE', 'CONCURRENT_TRANSACTIONS', 'TRANSACTION_COORDINATOR_FENCED'],
    ...['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP', 'INVALID_REQUIRED_ACKS'],
    ...['CLUSTER_AUTHORIZATION_FAILED', 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'SASL_AUTHENTICATION_FAILED', 'A_REFUSAL_OF_LATER'],
  ];
  it.each(ofCluster)('is not looked for where a Kafka cluster says %s: all are tried as often as one alone', async (type) => {
    const written = new Map<string, number>();
    const writer = {
      refusal: undefined,
      write: (addressed: readonly Addressed[]) => {
        for (const { message } of addressed) written.set(message.id, (written.get(message.id) ?? 0) + 1);
        return Promise.reject(Object.assign(new Error('refused'), { type }));
      },
      close: async () => undefined,
    };
    const sink = new KafkaSink({ writer, topic: undefined, batchMessages: 500, awaitsCheckpoint: false });
    const { letters } = await sendWithCulprit(sink, ['good', 'bad']);
    expect(letters.length).toBe(EVENTS);
    expect(Math.max(...written.values())).toBe(ATTEMPTS);
  });

  it.each([
    ...['UNKNOWN_TOPIC_OR_PARTITION', 'TOPIC_AUTHORIZATION_FAILED', 'INVALID_TOPIC_EXCEPTION', 'POLICY_VIOLATION', 'INVALID_TIMESTAMP'],
    ...['CORRUPT_MESSAGE', 'INVALID_RECORD', 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'UNSUPPORTED_FOR_MESSAGE_FORMAT'],
  ])('is looked for where a Kafka cluster says %s', async (type) => {
    const sink = new KafkaSink({ writer: new Cluster(type), topic: undefined, batchMessages: 500, awaitsCheckpoint: false });
    expect(await sink.batching.send(['0', '1'].map((id) => ({ id, topic: 'bad', payload: '{}' })))).toEqual(['alone', 'alone']);
  });

  it('is not looked for among those of a topic that lacks replicas', async () => {
    const sink = new KafkaSink({
      ...{ writer: new Cluster('NOT_ENOUGH_REPLICAS'), topic: undefined },
      ...{ batchMessages: 500, awaitsCheckpoint: false },
    });
    const topics = ['bad', 'bad', 'good'];
    const send = (count: number) => sink.batching.send(topics.slice(0, count).map((topic, n) => ({ id: `${n}`, topic, payload: '{}' })));
    const refused = Array(2).fill('DeliveryFailure: refused');
    expect((await send(2)).map(String)).toEqual(refused);
    expect((await send(3)).map(String)).toEqual([...refused, 'taken']);
  });

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
