import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Source, SourceMessage, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { type RedisAddress, redisClient, redisReason } from './redis-client.ts';

const WAITING_MESSAGES_MAX = 10_000;
/** How often it is asked whether the server is still there. */
const PING_MS = 5_000;

export interface RedisChannelOptions {
  readonly address: RedisAddress;
  readonly channel: string;
}

/** What is published to a channel while somebody listens: the server keeps nothing. */
export class RedisChannelSource implements Source {
  readonly #options: RedisChannelOptions;
  readonly #connection = new KeptConnection(redisReason);
  #client: Redis | undefined;
  #waiting: SourceMessage[] = [];
  #isHandingOver = false;

  constructor(options: RedisChannelOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    void this.#connection.keep(reading, (connected) => this.#listen(reading, connected));
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#client?.disconnect();
  }

  async #listen(reading: SourceReading, connected: () => void): Promise<void> {
    const { address, channel } = this.#options;
    const client = await redisClient(address);
    this.#client = client;
    try {
      client.on('message', (from: string, text: string) => this.#arrived(client, { from, text }, reading));
      await client.subscribe(channel);
      connected();
      while (!this.#connection.isClosed) {
        await sleep(PING_MS, undefined, { signal: this.#connection.signal }).catch(() => undefined);
        // While nothing more is read its answer could not be seen.
        if (!this.#connection.isClosed && this.#waiting.length < WAITING_MESSAGES_MAX) await client.ping();
      }
    } finally {
      client.disconnect();
    }
  }

  #arrived(client: Redis, { from, text }: { readonly from: string; readonly text: string }, reading: SourceReading): void {
    this.#waiting.push({ bytes: Buffer.from(text), topicPart: from.split(/[:./]/).at(-1) });
    // The server is held up, as long as it lets itself be.
    if (this.#waiting.length >= WAITING_MESSAGES_MAX) client.stream?.pause();
    void this.#handOver(client, reading);
  }

  async #handOver(client: Redis, reading: SourceReading): Promise<void> {
    if (this.#isHandingOver) return;
    this.#isHandingOver = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && !this.#connection.isClosed) {
      const messages = this.#waiting;
      this.#waiting = [];
      client.stream?.resume();
      if (!(await reading.take({ messages, position: null }))) break;
    }
    this.#isHandingOver = false;
  }
}
