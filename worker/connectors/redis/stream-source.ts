import { isUtf8 } from 'node:buffer';
import type { Redis } from 'ioredis';
import type { Source, SourceMessage, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { GroupMember, IDLE_MS } from './group-member.ts';
import { ANSWER_MS_MAX, type RedisAddress, redisClient, redisReason } from './redis-client.ts';
import { countsOf, readBy, type StreamCounts } from './stream-counts.ts';
import { type Entry, entriesOf, isAfter, type StreamsReply } from './stream-entries.ts';
import { type IdRange, TakenIds } from './taken-ids.ts';

const BATCH_ENTRIES_MAX = 1_000;
/** About so much is asked for at a time. */
const BATCH_BYTES = 8 * 1_048_576;
/** How long a read waits for entries. */
const BLOCK_MS = 2_000;
const BEGINNING = '0';
const BRACE = 123;
/** Fields that hold a whole message as JSON. */
const WHOLE_MESSAGE = new Set(['payload', 'data', 'event', 'message']);
const JSON_VALUE = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

export interface RedisStreamOptions {
  readonly address: RedisAddress;
  readonly stream: string;
  /** Undefined: all entries, each read from the place that stands in the position. */
  readonly group: string | undefined;
  readonly consumer: string;
  readonly textFields: ReadonlySet<string>;
  /** Undefined: events may have any. */
  readonly declaredFields: ReadonlySet<string> | undefined;
  /** What no member of the group has said for so long that it works on it, another takes over. @default IDLE_MS */
  readonly idleMs?: number;
  /** How many entries are read at a time without a group. @default `BATCH_ENTRIES_MAX` */
  readonly messagesMax?: (() => number | undefined) | undefined;
}

interface StreamPosition {
  /** Of the newest entry that was taken. */
  readonly id: string;
  /** Without a group: how many of the entries that there have ever been are before it, as far as the server says that. */
  readonly passed?: number;
  /** In a group: what was taken and perhaps not acknowledged; those of earlier versions do not have it. */
  readonly taken?: readonly IdRange[];
  /** In a group: how many entries the server misses among those that were read, as it does of trimmed ones for good, and that are told of. */
  readonly told?: number;
}

type Pair = readonly [name: Buffer, value: Buffer];

/**
 * Entries of a stream. Without a group they are read from the place in the position. In a group each entry is acknowledged once it is safe;
 * those that this consumer was given and had not acknowledged come first, and are told apart from those that were taken by the position.
 */
export class RedisStreamSource implements Source {
  readonly #options: RedisStreamOptions;
  readonly #connection = new KeptConnection(redisReason);
  #client: Redis | undefined;
  #last = BEGINNING;
  #taken = new TakenIds([]);
  #passed: number | undefined;
  #told: number | undefined;
  /** Asked for at a time: servers know of no bytes there, and one answer is held as a whole. */
  #count = 1;

  constructor(options: RedisStreamOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    const position = reading.position as StreamPosition | null;
    this.#last = position?.id ?? BEGINNING;
    [this.#passed, this.#told] = [position?.passed, position?.told];
    if (position !== null) this.#taken = new TakenIds(position.taken ?? [[BEGINNING, position.id]]);
    void this.#connection.keep(reading, (connected) => this.#read(reading, connected));
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#client?.disconnect();
  }

  async #read(reading: SourceReading, connected: () => void): Promise<void> {
    const client = await redisClient(this.#options.address, BLOCK_MS + ANSWER_MS_MAX);
    this.#client = client;
    // If the last connection was lost over an answer that was too large, this one asks for one entry first.
    this.#count = 1;
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
    let isToBeCompared = true;
    let comparedAt = this.#last;
    while (!this.#connection.isClosed) {
      if (isToBeCompared && !(await this.#compare(client, reading))) return;
      const reply = (await client.xreadBuffer('COUNT', this.#count, 'BLOCK', BLOCK_MS, 'STREAMS', stream, this.#last)) as StreamsReply;
      const entries = entriesOf(reply);
      // Where there is no more now it can be told whether there were others between those that were read.
      isToBeCompared = entries.length === 0 && this.#last !== comparedAt;
      if (isToBeCompared) comparedAt = this.#last;
      if (!(await this.#take(entries, reading))) return;
    }
  }

  /** What was deleted or trimmed before it was read is a dead letter, by what the stream says of itself. False when it is closed. */
  async #compare(client: Redis, reading: SourceReading): Promise<boolean> {
    const { stream } = this.#options;
    const counts = await countsOf(client, stream);
    if (counts === undefined) return true;
    const before = this.#last;
    const passed = passedBy(counts, before);
    if (passed === undefined) return true;
    const gone = passed - (this.#passed ?? passed);
    this.#passed = passed;
    if (gone <= 0) return true;
    return reading.take({ messages: [this.#noteOf(gone, before)], position: { id: before, passed }, placeOf: () => `gone ${before}` });
  }

  /** The same of what no member of the group was given; known where that is all that there is. */
  async #compareGroup(client: Redis, group: string, reading: SourceReading): Promise<boolean> {
    const { stream } = this.#options;
    const read = await readBy(client, stream, group);
    const counts = await countsOf(client, stream);
    const passed = read && counts && passedBy(counts, read.id);
    if (read === undefined || passed === undefined) return true;
    const missing = Math.max(0, passed - read.entries);
    const gone = missing - (this.#told ?? missing);
    this.#told = missing;
    if (gone <= 0) return true;
    const position: StreamPosition = { id: this.#last, taken: this.#taken.ranges, told: missing };
    const messages = [this.#noteOf(gone, read.id)];
    return reading.take({ messages, position: { ...position }, placeOf: () => `gone ${read.id}`, isTold: true });
  }

  #noteOf(gone: number, before: string): SourceMessage {
    const { stream } = this.#options;
    const what = `${gone} entries of the stream '${stream}' were deleted or trimmed before they were read, behind the entry ${before}`;
    return { bytes: Buffer.alloc(0), problem: `${what}: let the stream keep more, or read it sooner` };
  }

  async #readAsMember(
    client: Redis,
    group: string,
    { reading, connected }: { readonly reading: SourceReading; readonly connected: () => void },
  ): Promise<void> {
    const { stream, consumer, idleMs = IDLE_MS } = this.#options;
    try {
      await client.xgroup('CREATE', stream, group, BEGINNING, 'MKSTREAM');
      this.#told = 0;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('BUSYGROUP')) throw error;
    }
    connected();
    if (!(await this.#compareGroup(client, group, reading))) return;
    const member = new GroupMember({
      ...{ client, stream, group, consumer, idleMs, taken: this.#taken },
      blockMs: BLOCK_MS,
      count: () => this.#count,
      isClosed: () => this.#connection.isClosed,
      take: (entries, taken) => this.#take(entries, reading, taken),
    });
    await member.read();
  }

  /** @param taken Of a member of a group. */
  async #take(entries: readonly Entry[], reading: SourceReading, taken?: readonly IdRange[]): Promise<boolean> {
    if (entries.length === 0) return true;
    // Each batch of a member waits until it is safe: smaller ones would wait as often.
    this.#count = nextCount(this.#count, entries, taken === undefined ? this.#options.messagesMax?.() : undefined);
    const newest = entries.reduce((id, [other]) => (isAfter(other, id) ? other : id), this.#last);
    const passed = this.#passed === undefined || taken !== undefined ? undefined : this.#passed + entries.length;
    const told = taken === undefined ? undefined : this.#told;
    const position: StreamPosition = {
      ...{ id: newest, ...(taken && { taken }) },
      ...{ ...(passed !== undefined && { passed }), ...(told !== undefined && { told }) },
    };
    const messages = entries.map((entry) => this.#message(entry));
    if (!(await reading.take({ messages, position: { ...position }, isTold: taken !== undefined }))) return false;
    [this.#last, this.#passed] = [newest, passed];
    return true;
  }

  #message([id, fields]: Entry): SourceMessage {
    if (fields === null) {
      const problem = `the entry ${id} was deleted or trimmed before it was read: let the stream keep more, or read it sooner`;
      return { bytes: Buffer.alloc(0), problem };
    }
    const topicPart = this.#options.stream.split(/[:./]/).at(-1);
    const pairs = pairsOf(fields);
    const payload = pairs.find(([name, value]) => WHOLE_MESSAGE.has(name.toString()) && value[0] === BRACE) ?? this.#onlyMessage(pairs);
    if (payload !== undefined) return { bytes: payload[1], topicPart };
    if (!fields.every(isUtf8)) return { bytes: Buffer.concat(fields), problem: 'found a field that is no UTF-8 text, expected texts' };
    const members = pairs.map(([name, value]) => `${JSON.stringify(name.toString())}:${this.#value(name.toString(), value.toString())}`);
    return { bytes: Buffer.from(`{${members.join(',')}}`), topicPart };
  }

  /** Beside its id an entry has nothing but a message, and no event has a field of that name: what it holds is to be an event. */
  #onlyMessage(pairs: readonly Pair[]): Pair | undefined {
    const [only, ...others] = pairs.filter(([name]) => name.toString() !== 'id');
    if (only === undefined || others.length > 0) return undefined;
    const name = only[0].toString();
    return WHOLE_MESSAGE.has(name) && this.#options.declaredFields?.has(name) === false ? only : undefined;
  }

  /** Redis knows texts alone. */
  #value(name: string, text: string): string {
    return JSON_VALUE.test(text) && !this.#options.textFields.has(name) ? text : JSON.stringify(text);
  }
}

/** How many there have been before those that are behind an entry; undefined where some are behind it, and others before. */
function passedBy({ added, length, first, last }: StreamCounts, id: string): number | undefined {
  if (first !== undefined && isAfter(first, id)) return added - length;
  return length === 0 || !isAfter(last, id) ? added : undefined;
}

function pairsOf(fields: readonly Buffer[]): Pair[] {
  return Array.from({ length: fields.length >> 1 }, (_, at) => fields.slice(2 * at, 2 * at + 2) as [Buffer, Buffer]);
}

/** By what the entries of the last answer had, and not much more at once: those behind may be larger. */
function nextCount(count: number, entries: readonly Entry[], entriesMax = BATCH_ENTRIES_MAX): number {
  const bytes = entries.reduce((sum, [, fields]) => (fields ?? []).reduce((length, field) => length + field.length, sum), 0);
  const fitting = Math.floor((BATCH_BYTES * entries.length) / Math.max(1, bytes));
  return Math.max(1, Math.min(entriesMax, fitting, count * 8));
}
