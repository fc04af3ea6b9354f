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

/** Refusals that are of one record or of one topic. Any other may come once records are written, or stays until the cluster is well again. */
const ownRefusals: ReadonlySet<string> = new Set([
  ...permanentRefusals,
  'UNKNOWN_TOPIC_OR_PARTITION',
  'TOPIC_AUTHORIZATION_FAILED',
  'POLICY_VIOLATION',
  'INVALID_TIMESTAMP',
  'CORRUPT_MESSAGE',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
]);
/** Of one topic, which says how many it needs, and of none of its records. */
const TOPIC_STATE = 'NOT_ENOUGH_REPLICAS';
/** Of one batch: to try more of them each for itself would take too long. */
const REFUSED_TOPICS_MAX = 3;

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
    const outcome = await this.#outcomeOf(addressed);
    const outcomes = outcome === 'alone' ? await this.#outcomesByTopic(addressed) : undefined;
    return messages.map((message) => refusals.get(message) ?? outcomes?.get(message) ?? outcome);
  }

  async #outcomeOf(addressed: readonly Addressed[]): Promise<Outcome> {
    return await this.#write(addressed).then(
      (): Outcome => 'taken',
      (failure) => sharedOutcome(failure, addressed),
    );
  }

  /** After a refusal that does not say of which topic: so what goes to the others is not written again with each part of the batch. */
  async #outcomesByTopic(addressed: readonly Addressed[]): Promise<ReadonlyMap<SinkMessage, Outcome>> {
    const topics = new Set(addressed.map(({ topic }) => topic));
    const outcomes = new Map<SinkMessage, Outcome>();
    if (topics.size === 1) return outcomes;
    let refused = 0;
    for (const topic of topics) {
      const part = addressed.filter((one) => one.topic === topic);
      const outcome = await this.#outcomeOf(part);
      for (const { message } of part) outcomes.set(message, outcome);
      if (outcome !== 'taken') refused++;
      const isShared = outcome instanceof DeliveryFailure && refusalOf(outcome) !== TOPIC_STATE;
      if (isShared || refused === REFUSED_TOPICS_MAX) break;
    }
    return outcomes;
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
function sharedOutcome(failure: unknown, addressed: readonly Addressed[]): Outcome {
  if (!(failure instanceof DeliveryFailure) || failure.isPermanent) return 'alone';
  const type = refusalOf(failure) ?? '';
  const isOfOthers = type === TOPIC_STATE && addressed.some(({ topic }) => topic !== addressed[0]?.topic);
  return isOfOthers || ownRefusals.has(type) ? 'alone' : failure;
}

function failureOf(cause: unknown, forbidden: ForbiddenAddress | undefined, topic: string): DeliveryFailure {
  if (forbidden !== undefined) return new DeliveryFailure(forbidden.code, forbidden.message, { isPermanent: true, cause });
  const type = refusalOf(cause);
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') {
    return new DeliveryFailure('unknown_topic', `the cluster has no topic '${topic}': create it, or correct the name`, { cause });
  }
  return new DeliveryFailure('kafka_error', kafkaReason(cause), { isPermanent: permanentRefusals.has(type ?? ''), cause });
}
