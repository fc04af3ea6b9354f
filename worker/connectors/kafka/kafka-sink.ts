import type { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';
import { kafkaReason, refusalOf } from './kafka-client.ts';
import type { Addressed, KafkaWriter } from './kafka-writer.ts';

/** Refusals that stay whatever happens meanwhile. */
const permanentRefusals: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_RECORD',
]);

const UNKNOWN_TOPIC = 'unknown_topic';

export interface KafkaSinkOptions {
  readonly writer: KafkaWriter;
  /** Of messages that name none. */
  readonly topic: string | undefined;
  /** Messages of one write. */
  readonly batchMessages: number;
  /** Nothing is written but what a checkpoint has. */
  readonly awaitsCheckpoint: boolean;
}

/** Writes messages, each of which is delivered when all replicas in sync have it. A connection that has failed is not used again. */
export class KafkaSink implements Sink {
  readonly #options: KafkaSinkOptions;
  readonly batching: Batching;
  readonly awaitsCheckpoint: boolean;

  constructor(options: KafkaSinkOptions) {
    this.#options = options;
    this.awaitsCheckpoint = options.awaitsCheckpoint;
    this.batching = { messages: options.batchMessages, send: (messages) => this.#sendBatch(messages) };
  }

  async send(message: SinkMessage): Promise<void> {
    await this.#write([{ message, topic: this.#topicOf(message) }]);
  }

  /** The cluster says of a write as a whole that it has it. */
  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    const refusals = new Map<SinkMessage, DeliveryFailure>();
    const addressed: Addressed[] = [];
    for (const message of messages) {
      try {
        addressed.push({ message, topic: this.#topicOf(message) });
      } catch (error) {
        if (!(error instanceof DeliveryFailure)) throw error;
        refusals.set(message, error);
      }
    }
    const outcome = await this.#write(addressed).then((): Outcome => 'taken', sharedOutcome);
    return messages.map((message) => refusals.get(message) ?? outcome);
  }

  /** @throws DeliveryFailure when it is none */
  #topicOf({ topic: named }: SinkMessage): string {
    const topic = named ?? this.#options.topic;
    if (topic !== undefined && /^(?!\.{1,2}$)[\w.-]{1,249}$/.test(topic)) return topic;
    const expected = 'expected up to 249 letters, digits, dots, underscores and hyphens';
    throw new DeliveryFailure('bad_topic', `'${topic ?? ''}' is no name of a topic: ${expected}`, { isPermanent: true });
  }

  async #write(addressed: readonly Addressed[]): Promise<void> {
    if (addressed.length === 0) return;
    const { writer } = this.#options;
    try {
      await writer.write(addressed);
    } catch (cause) {
      const { refusal } = writer;
      await writer.close();
      throw failureOf(cause, refusal, addressed[0]?.topic ?? '');
    }
  }

  close(): Promise<void> {
    return this.#options.writer.close();
  }
}

/** What is wrong with one message, or one topic, is told when that is sent alone. */
function sharedOutcome(failure: unknown): Outcome {
  const isShared = failure instanceof DeliveryFailure && !failure.isPermanent && failure.code !== UNKNOWN_TOPIC;
  return isShared ? failure : 'alone';
}

function failureOf(cause: unknown, forbidden: ForbiddenAddress | undefined, topic: string): DeliveryFailure {
  if (forbidden !== undefined) return new DeliveryFailure(forbidden.code, forbidden.message, { isPermanent: true, cause });
  const type = refusalOf(cause);
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return new DeliveryFailure(UNKNOWN_TOPIC, `the cluster has no topic '${topic}': create it, or correct the name`, { cause });
  }
  return new DeliveryFailure('kafka_error', kafkaReason(cause), { isPermanent: permanentRefusals.has(type ?? ''), cause });
}
