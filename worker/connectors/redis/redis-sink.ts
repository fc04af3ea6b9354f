import type { Redis } from 'ioredis';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Sink, type SinkMessage } from '../connector.ts';
import { type RedisAddress, redisClient, redisReason } from './redis-client.ts';

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

  constructor(options: RedisSinkOptions) {
    this.#options = options;
  }

  async send({ id, topic, payload }: SinkMessage): Promise<void> {
    const { target: own, isStream, maxLength } = this.#options;
    const target = topic ?? own;
    if (target === undefined || target === '')
      throw new DeliveryFailure('bad_topic', 'there is no stream or channel to send to', { isPermanent: true });
    try {
      this.#connecting ??= redisClient(this.#options.address);
      const client = await this.#connecting;
      if (!isStream) await client.publish(target, payload);
      else if (maxLength === undefined) await client.xadd(target, '*', 'id', id, 'payload', payload);
      else await client.xadd(target, 'MAXLEN', '~', maxLength, '*', 'id', id, 'payload', payload);
    } catch (cause) {
      if (isRefusal(cause)) throw new DeliveryFailure('wrong_type', redisReason(cause), { isPermanent: true, cause });
      await this.close();
      if (cause instanceof ForbiddenAddress) throw new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
      throw new DeliveryFailure('redis_error', redisReason(cause), { cause });
    }
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    await connecting?.then((client) => client.disconnect()).catch(() => undefined);
  }
}

/** What stands under the name is something else. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}
