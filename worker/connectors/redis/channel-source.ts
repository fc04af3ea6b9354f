import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { answered } from '../../../shared/outbound/outbound-door.ts';
import type { Source, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { WaitingMessages } from '../sources/waiting-messages.ts';
import { type RedisAddress, redisClient, redisReason } from './redis-client.ts';

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
  readonly #waiting = new WaitingMessages({
    onRoom: () => this.#client?.stream?.resume(),
    isClosed: () => this.#connection.isClosed,
  });
  #client: Redis | undefined;

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
    const ended = new AbortController();
    client.once('end', () => ended.abort());
    const untilOver = AbortSignal.any([this.#connection.signal, ended.signal]);
    try {
      client.on('messageBuffer', (from: Buffer, bytes: Buffer) => this.#arrived(client, { from: from.toString(), bytes }, reading));
      await client.subscribe(channel);
      connected();
      while (!this.#connection.isClosed) {
        // A connection that has ended fails the question at once: as long as nobody listens, what is published is gone.
        await sleep(PING_MS, undefined, { signal: untilOver }).catch(() => undefined);
        // While nothing more is read its answer could not be seen.
        if (!this.#connection.isClosed && (ended.signal.aborted || !this.#waiting.isFull)) await client.ping();
      }
    } finally {
      client.disconnect();
    }
  }

  #arrived(client: Redis, { from, bytes }: { readonly from: string; readonly bytes: Buffer }, reading: SourceReading): void {
    answered(client.stream);
    this.#waiting.add({ bytes, topicPart: from.split(/[:./]/).at(-1) }, reading);
    // The server is held up, as long as it lets itself be.
    if (this.#waiting.isFull) client.stream?.pause();
  }
}
