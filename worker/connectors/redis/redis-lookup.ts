import type { Redis } from 'ioredis';
import { fromJson, toText } from '../../../shared/events/text.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { Lookup } from '../connector.ts';
import { untilLeft } from '../in-time.ts';
import { exactJson } from '../lookups/exact-json.ts';
import { ANSWER_MS_MAX, type RedisAddress, redisClient, redisReason } from './redis-client.ts';

/** Texts that stand for other values: Redis knows texts alone. */
const JSON_VALUE = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{[][\s\S]*)$/;

export interface RedisLookupOptions {
  readonly address: RedisAddress;
  readonly keyPrefix: string;
}

/** What stands under a key: the fields of a hash, or a text, which may be JSON. A connection that has failed is not used again. */
export class RedisLookup implements Lookup {
  readonly #options: RedisLookupOptions;
  #connecting: Promise<Redis> | undefined;
  /** What was found last was one: the next will be, most likely. */
  #isHash = true;

  constructor(options: RedisLookupOptions) {
    this.#options = options;
  }

  async find(key: Value, signal: AbortSignal): Promise<Value> {
    const name = this.#options.keyPrefix + toText(key);
    this.#connecting ??= redisClient(this.#options.address, null);
    const connecting = this.#connecting;
    try {
      const client = await connecting;
      // Others may find out meanwhile that theirs is of the other kind.
      const isHash = this.#isHash;
      const read = this.#read(client, name, isHash).catch(async (error: unknown) => {
        if (!(error instanceof Error) || !error.message.startsWith('WRONGTYPE')) throw error;
        this.#isHash = !isHash;
        return this.#read(client, name, !isHash);
      });
      const found = await untilLeft(read, signal, ANSWER_MS_MAX);
      if (found === null) throw new NoSuchKey(`there is nothing under '${name}'`);
      return found;
    } catch (cause) {
      if (cause instanceof NoSuchKey) throw cause;
      const isRefusal = cause instanceof Error && /^[A-Z]+ /.test(cause.message);
      if (!isRefusal && this.#connecting === connecting) await this.close();
      throw new Error(redisReason(cause), { cause });
    }
  }

  async #read(client: Redis, name: string, isHash: boolean): Promise<Value> {
    if (!isHash) {
      const text = await client.get(name);
      return text === null ? null : storedValue(text);
    }
    const fields = Object.entries(await client.hgetall(name));
    return fields.length === 0 ? null : new Map(fields.map(([field, text]) => [field, storedValue(text)]));
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    await connecting?.then((client) => client.disconnect()).catch(() => undefined);
  }
}

class NoSuchKey extends Error {}

function storedValue(text: string): Value {
  if (!JSON_VALUE.test(text)) return text;
  try {
    return fromJson(exactJson(text));
  } catch {
    return text; // It only looked like JSON.
  }
}
