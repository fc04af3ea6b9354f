import type { Redis } from 'ioredis';
import type { Source, SourceMessage, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { ANSWER_MS_MAX, type RedisAddress, redisClient, redisReason } from './redis-client.ts';

const BATCH_ENTRIES = 1_000;
/** How long a read waits for entries. */
const BLOCK_MS = 2_000;
const BEGINNING = '0';
/** Fields that hold a whole message as JSON, where an entry has but one besides its id. */
const JSON_VALUE = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

export interface RedisStreamOptions {
  readonly address: RedisAddress;
  readonly stream: string;
  /** Undefined: all entries, each read from the place that stands in the position. */
  readonly group: string | undefined;
  readonly consumer: string;
  readonly textFields: ReadonlySet<string>;
}

interface StreamPosition {
  /** Of the last entry that was taken. */
  readonly id: string;
}

type Entry = readonly [id: string, fields: readonly string[] | null];
type Reply = readonly (readonly [stream: string, entries: readonly Entry[]])[] | null;

/**
 * Entries of a stream. Without a group they are read from the place in the position. In a group each entry is acknowledged once it is safe;
 * those that this consumer was given and had not acknowledged come first, and are told apart from those that were taken by the position.
 */
export class RedisStreamSource implements Source {
  readonly #options: RedisStreamOptions;
  readonly #connection = new KeptConnection(redisReason);
  #client: Redis | undefined;
  #last = BEGINNING;

  constructor(options: RedisStreamOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    this.#last = (reading.position as StreamPosition | null)?.id ?? BEGINNING;
    void this.#connection.keep(reading, (connected) => this.#read(reading, connected));
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#client?.disconnect();
  }

  async #read(reading: SourceReading, connected: () => void): Promise<void> {
    const client = await redisClient(this.#options.address, BLOCK_MS + ANSWER_MS_MAX);
    this.#client = client;
    try {
      if (this.#connection.isClosed) return;
      if (this.#options.group === undefined) await this.#readAll(client, reading, connected);
      else await this.#readAsMember(client, this.#options.group, { reading, connected });
    } finally {
      client.disconnect();
    }
  }

  async #readAll(client: Redis, reading: SourceReading, connected: () => void): Promise<void> {
    const { stream } = this.#options;
    // What is no stream is refused at once, before it is waited for.
    await client.xread('COUNT', 1, 'STREAMS', stream, this.#last);
    connected();
    while (!this.#connection.isClosed) {
      const reply = (await client.xread('COUNT', BATCH_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', stream, this.#last)) as Reply;
      if (!(await this.#take(entriesOf(reply), reading))) return;
    }
  }

  async #readAsMember(
    client: Redis,
    group: string,
    { reading, connected }: { readonly reading: SourceReading; readonly connected: () => void },
  ): Promise<void> {
    const { stream, consumer } = this.#options;
    await client.xgroup('CREATE', stream, group, BEGINNING, 'MKSTREAM').catch((error: Error) => {
      if (!error.message.startsWith('BUSYGROUP')) throw error;
    });
    connected();
    for (let from = BEGINNING; !this.#connection.isClosed; ) {
      const options = ['GROUP', group, consumer, 'COUNT', BATCH_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', stream, from] as const;
      const entries = entriesOf((await client.xreadgroup(...options)) as Reply);
      // An entry that was taken, and whose acknowledgement was lost, is only acknowledged.
      const fresh = from === '>' ? entries : entries.filter(([id]) => isAfter(id, this.#last));
      if (!(await this.#take(fresh, reading))) return;
      if (entries.length > 0) await client.xack(stream, group, ...entries.map(([id]) => id));
      else from = '>';
    }
  }

  async #take(entries: readonly Entry[], reading: SourceReading): Promise<boolean> {
    const last = entries.at(-1)?.[0];
    if (last === undefined) return true;
    const position: StreamPosition = { id: last };
    const messages = entries.map((entry) => this.#message(entry));
    if (!(await reading.take({ messages, position: { ...position } }))) return false;
    this.#last = last;
    return true;
  }

  #message([, fields]: Entry): SourceMessage {
    const topicPart = this.#options.stream.split(/[:./]/).at(-1);
    const pairs = pairsOf(fields ?? []);
    const payload = pairs.find(([name, value]) => ['payload', 'data', 'event', 'message'].includes(name) && value.startsWith('{'));
    if (payload !== undefined) return { bytes: Buffer.from(payload[1]), topicPart };
    const members = pairs.map(([name, value]) => `${JSON.stringify(name)}:${this.#value(name, value)}`);
    return { bytes: Buffer.from(`{${members.join(',')}}`), topicPart };
  }

  /** Redis knows texts alone. */
  #value(name: string, text: string): string {
    return JSON_VALUE.test(text) && !this.#options.textFields.has(name) ? text : JSON.stringify(text);
  }
}

function entriesOf(reply: Reply): readonly Entry[] {
  return reply?.[0]?.[1] ?? [];
}

function pairsOf(fields: readonly string[]): (readonly [name: string, value: string])[] {
  return Array.from({ length: fields.length / 2 }, (_, at) => [fields[2 * at] ?? '', fields[2 * at + 1] ?? ''] as const);
}

/** Ids are `<ms>-<number>`. */
function isAfter(id: string, other: string): boolean {
  const [ms = 0, number = 0] = id.split('-').map(Number);
  const [otherMs = 0, otherNumber = 0] = other.split('-').map(Number);
  return ms > otherMs || (ms === otherMs && number > otherNumber);
}
