import type { Redis } from 'ioredis';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';
import { inTime } from '../in-time.ts';
import { ANSWER_MS_MAX, type RedisAddress, redisClient, redisReason } from './redis-client.ts';
import { sendTogether, type WrittenCommand, wordsText } from './together.ts';

const BATCH_MESSAGES_MAX = 500;

export interface RedisSinkOptions {
  readonly address: RedisAddress;
  /** Stream or channel of messages that name none. */
  readonly target: string | undefined;
  readonly isStream: boolean;
  /** Entries that a stream keeps, about; undefined: all. */
  readonly maxLength: number | undefined;
}

/** Adds messages to streams, as entries with their id and the message under `payload`, or publishes them to channels. A connection that has failed is not used again. */
export class RedisSink implements Sink {
  readonly #options: RedisSinkOptions;
  #connecting: Promise<Redis> | undefined;
  /** Of the target that was sent to last: the next message most likely is for it too. */
  #begun: { readonly target: string; readonly text: string } | undefined;

  constructor(options: RedisSinkOptions) {
    this.#options = options;
  }

  readonly batching: Batching = { messages: BATCH_MESSAGES_MAX, send: (messages) => this.#sendBatch(messages) };

  async send(message: SinkMessage): Promise<void> {
    const [outcome] = await this.#sendBatch([message]);
    if (outcome instanceof DeliveryFailure) throw outcome;
  }

  /** All at once, of which the server answers each. */
  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    try {
      // A timer for each command would cost more than the command.
      this.#connecting ??= redisClient(this.#options.address, null);
      const client = await this.#connecting;
      const commands = messages.map((message) => this.#commandOf(message));
      const sent = commands.filter((command) => command !== undefined);
      const errors = (await inTime(sendTogether(client, sent), ANSWER_MS_MAX))[Symbol.iterator]();
      const outcomes = commands.map((command) => {
        if (command === undefined) return noTarget();
        const error = errors.next().value;
        return error === undefined ? 'taken' : failureOf(error);
      });
      if (outcomes.some((outcome) => outcome instanceof DeliveryFailure && !outcome.isPermanent)) await this.close();
      return outcomes;
    } catch (cause) {
      await this.close();
      const failure = failureOf(cause);
      return messages.map(() => failure);
    }
  }

  /** Undefined: it has no target. */
  #commandOf({ id, topic, payload }: SinkMessage): WrittenCommand | undefined {
    const { target: own, isStream } = this.#options;
    const target = topic ?? own;
    if (target === undefined || target === '') return undefined;
    if (target !== this.#begun?.target) this.#begun = { target, text: this.#beginning(target) };
    const { text } = this.#begun;
    if (!isStream) return { name: 'publish', text: text + wordsText([payload]) };
    return { name: 'xadd', text: text + wordsText([id, 'payload', payload]) };
  }

  /** All of a command that is the same for each message to a target. */
  #beginning(target: string): string {
    const { isStream, maxLength } = this.#options;
    if (!isStream) return `*3\r\n${wordsText(['publish', target])}`;
    const words = ['xadd', target, ...(maxLength === undefined ? [] : ['MAXLEN', '~', String(maxLength)]), '*', 'id'];
    return `*${words.length + 3}\r\n${wordsText(words)}`;
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    await connecting?.then((client) => client.disconnect()).catch(() => undefined);
  }
}

function noTarget(): DeliveryFailure {
  return new DeliveryFailure('bad_topic', 'there is no stream or channel to send to', { isPermanent: true });
}

function failureOf(cause: unknown): DeliveryFailure {
  if (isRefusal(cause)) return new DeliveryFailure('wrong_type', redisReason(cause), { isPermanent: true, cause });
  if (cause instanceof ForbiddenAddress) return new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
  return new DeliveryFailure('redis_error', redisReason(cause), { cause });
}

/** What stands under the name is something else. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}
