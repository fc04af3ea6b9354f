import kafkajs, { type Kafka, type Producer } from 'kafkajs';
import { vi } from 'vitest';
import { NumberedPublisher } from './audited-run.ts';
import { RunningBroker } from './containers.ts';

const LOGIN = { mechanism: 'plain', username: 'cep', password: 'secret' } as const;
const { CompressionTypes, logLevel, Partitioners } = kafkajs;

/** A cluster of one that knows one user, and lets readers say that they are gone after half a second. */
export function startKafka(config = ''): Promise<RunningBroker> {
  return RunningBroker.start({
    broker: 'kafka',
    port: 9092,
    environment: (outside) => ({
      KAFKA_EXTERNAL: `127.0.0.1:${outside}`,
      KAFKA_SECURITY: 'SASL_PLAINTEXT',
      KAFKA_USERS: 'cep:secret',
      KAFKA_HEAP: '128m',
      KAFKA_CONFIG: `group.min.session.timeout.ms=500\n${config}`,
    }),
  });
}

/** A line for the broker by which clients come back at this port, which leads to it. */
export function advertisedAt(port: number): string {
  return `advertised.listeners=EXTERNAL://127.0.0.1:${port},INTERNAL://localhost:19092`;
}

/** Lines for the broker by which it takes logins by SCRAM too. */
export const scramConfig = [
  'listener.name.external.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
  ...['256', '512'].map(
    (bits) => `listener.name.external.scram-sha-${bits}.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;`,
  ),
].join('\n');

export interface ScramUser {
  readonly mechanism: string;
  readonly username: string;
  readonly password: string;
}

/** The broker knows the user by this password from now on, as an administrator tells it (kafka-configs). */
export async function knowScramUser(broker: RunningBroker, { mechanism, username, password }: ScramUser): Promise<void> {
  const java = ['java', '-Xmx64m', '-XX:TieredStopAtLevel=1', '-cp', '/opt/kafka/libs/*', 'kafka.admin.ConfigCommand'];
  const user = ['--entity-type', 'users', '--entity-name', username];
  const config = `${mechanism}=[iterations=4096,password=${password}]`;
  await broker.run([...java, '--bootstrap-server', 'localhost:19092', '--alter', '--add-config', config, ...user]);
}

export function clientOf(port: number, retries = 0): Kafka {
  return new kafkajs.Kafka({
    clientId: 'test',
    brokers: [`127.0.0.1:${port}`],
    sasl: { ...LOGIN },
    logLevel: logLevel.NOTHING,
    retry: { retries, initialRetryTime: 100, maxRetryTime: 1_000 },
  });
}

/** Until a cluster has found itself it knows no controller. */
export async function makeTopics(port: number, names: readonly string[], numPartitions: number): Promise<void> {
  const admin = clientOf(port, 10).admin();
  await admin.connect();
  const topics = names.map((topic) => ({ topic, numPartitions }));
  await vi.waitFor(() => admin.createTopics({ topics }), { timeout: 60_000, interval: 200 });
  await admin.disconnect();
}

/** One message at a time, packed. */
export class KafkaPublisher extends NumberedPublisher {
  readonly #port: number;
  readonly #topic: string;
  #producer: Producer | undefined;

  constructor(port: number, topic: string) {
    super();
    this.#port = port;
    this.#topic = topic;
  }

  protected override async give(number: number): Promise<void> {
    this.#producer ??= await producerOf(this.#port);
    const value = JSON.stringify({ event_type: 'Reading', n: number });
    await this.#producer.send({ topic: this.#topic, acks: -1, compression: CompressionTypes.GZIP, messages: [{ value }] });
  }

  override async leave(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.disconnect().catch(() => undefined);
  }
}

export async function producerOf(port: number): Promise<Producer> {
  const producer = clientOf(port).producer({ createPartitioner: Partitioners.DefaultPartitioner, allowAutoTopicCreation: false });
  await producer.connect();
  return producer;
}
