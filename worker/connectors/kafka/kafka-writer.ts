import type { Producer, TopicMessages } from 'kafkajs';
import type { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import type { SinkMessage } from '../connector.ts';
import { ANSWER_MS_MAX, type KafkaAddress, KafkaClient } from './kafka-client.ts';

/** All replicas that are in sync have it. */
const ACKS_ALL = -1;
/** As the protocol numbers them. */
const UNCOMPRESSED = 0;
const GZIP = 1;

export interface KafkaWriterOptions {
  readonly address: KafkaAddress;
  readonly isGzip: boolean;
}

export interface Addressed {
  readonly message: SinkMessage;
  readonly topic: string;
}

/** Writes messages to a cluster, to which it connects when it has the first. */
export interface KafkaWriter {
  /** Resolves when all replicas in sync have all of them. @throws what is wrong with one of them or with the cluster */
  write(addressed: readonly Addressed[]): Promise<void>;
  /** A broker of the cluster is at an address that may not be reached. */
  readonly refusal: ForbiddenAddress | undefined;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** Writes at least once. The producer is idempotent: what it sends again by itself is not there twice. */
export class PlainWriter implements KafkaWriter {
  readonly #options: KafkaWriterOptions;
  #client: KafkaClient | undefined;
  #producer: Promise<Producer> | undefined;

  constructor(options: KafkaWriterOptions) {
    this.#options = options;
  }

  async write(addressed: readonly Addressed[]): Promise<void> {
    this.#producer ??= this.#connect();
    const producer = await this.#producer;
    await producer.sendBatch(batchOf(addressed, this.#options.isGzip));
  }

  async #connect(): Promise<Producer> {
    const { Partitioners } = (await import('kafkajs')).default;
    this.#client = await KafkaClient.open(this.#options.address);
    const producer = this.#client.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { retries: 2, initialRetryTime: 100 },
    });
    await producer.connect();
    return producer;
  }

  get refusal(): ForbiddenAddress | undefined {
    return this.#client?.refusal;
  }

  async close(): Promise<void> {
    this.#client?.destroy();
    [this.#client, this.#producer] = [undefined, undefined];
  }
}

/** One write. */
export function batchOf(addressed: readonly Addressed[], isGzip: boolean): Parameters<Producer['sendBatch']>[0] {
  return { acks: ACKS_ALL, timeout: ANSWER_MS_MAX, compression: isGzip ? GZIP : UNCOMPRESSED, topicMessages: byTopic(addressed) };
}

/** In the order of the messages, within each topic. */
function byTopic(addressed: readonly Addressed[]): TopicMessages[] {
  const topics = new Map<string, TopicMessages['messages']>();
  for (const { message, topic } of addressed) {
    const { id, payload, traceparent } = message;
    const written = { value: payload, headers: { id, ...(traceparent === undefined ? {} : { traceparent }) } };
    const known = topics.get(topic);
    if (known === undefined) topics.set(topic, [written]);
    else known.push(written);
  }
  return Array.from(topics, ([topic, messages]) => ({ topic, messages }));
}
