import type { Producer } from 'kafkajs';
import type { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Sink, type SinkMessage } from '../connector.ts';
import { ANSWER_MS_MAX, type KafkaAddress, KafkaClient, kafkaReason, refusalOf } from './kafka-client.ts';

/** All replicas that are in sync have it. */
const ACKS_ALL = -1;
/** As the protocol numbers them. */
const UNCOMPRESSED = 0;
const GZIP = 1;
/** Refusals that stay whatever happens meanwhile. */
const permanentRefusals: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_RECORD',
]);

export interface KafkaSinkOptions {
  readonly address: KafkaAddress;
  /** Of messages that name none. */
  readonly topic: string | undefined;
  readonly isGzip: boolean;
}

/**
 * Writes messages, each of which is delivered when all replicas in sync have it. The producer is idempotent: what it sends again by itself
 * is not there twice. One that has failed is not used again.
 */
export class KafkaSink implements Sink {
  readonly #options: KafkaSinkOptions;
  #client: Promise<KafkaClient> | undefined;
  #producer: Promise<Producer> | undefined;

  constructor(options: KafkaSinkOptions) {
    this.#options = options;
  }

  async send({ id, topic: named, payload, traceparent }: SinkMessage): Promise<void> {
    const topic = named ?? this.#options.topic;
    if (topic === undefined || !/^(?!\.{1,2}$)[\w.-]{1,249}$/.test(topic)) {
      const expected = 'expected up to 249 letters, digits, dots, underscores and hyphens';
      throw new DeliveryFailure('bad_topic', `'${topic ?? ''}' is no name of a topic: ${expected}`, { isPermanent: true });
    }
    this.#client ??= KafkaClient.open(this.#options.address);
    const client = await this.#client;
    try {
      this.#producer ??= this.#connect(client);
      const producer = await this.#producer;
      const headers = { id, ...(traceparent === undefined ? {} : { traceparent }) };
      const compression = this.#options.isGzip ? GZIP : UNCOMPRESSED;
      await producer.send({ topic, acks: ACKS_ALL, timeout: ANSWER_MS_MAX, compression, messages: [{ value: payload, headers }] });
    } catch (cause) {
      await this.close();
      throw failureOf(cause, client.refusal, topic);
    }
  }

  async #connect(client: KafkaClient): Promise<Producer> {
    const { Partitioners } = (await import('kafkajs')).default;
    const producer = client.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { retries: 2, initialRetryTime: 100 },
    });
    await producer.connect();
    return producer;
  }

  async close(): Promise<void> {
    const client = this.#client;
    [this.#client, this.#producer] = [undefined, undefined];
    (await client)?.destroy();
  }
}

function failureOf(cause: unknown, forbidden: ForbiddenAddress | undefined, topic: string): DeliveryFailure {
  if (forbidden !== undefined) return new DeliveryFailure(forbidden.code, forbidden.message, { isPermanent: true, cause });
  const type = refusalOf(cause);
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return new DeliveryFailure('unknown_topic', `the cluster has no topic '${topic}': create it, or correct the name`, { cause });
  }
  return new DeliveryFailure('kafka_error', kafkaReason(cause), { isPermanent: permanentRefusals.has(type ?? ''), cause });
}
