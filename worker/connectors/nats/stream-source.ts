import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerConfig, ConsumerInfo, JetStreamManager, StreamInfo } from 'nats';
import type { Source, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { ackWaitOf } from './ack-wait.ts';
import { ANSWER_MS_MAX, type NatsAddress, NatsClient, natsCode, natsReason } from './nats-client.ts';
import { StreamIntake } from './stream-intake.ts';
import { StreamPull } from './stream-pull.ts';
import { TakenSequences } from './taken-sequences.ts';
import { isWhole } from './whole-stream.ts';

/** After this time a server gives a message again that it has not heard of, ms; of consumers that are made here. */
const ACK_WAIT_MS = 5_000;
/** Who waits longer for that does not wait for what another may still be working on. */
const ACK_WAIT_MS_MAX = 30_000;
const ACK_PENDING_MAX = 5_000;
/** How long a request for messages waits, ms; of the only reader of a consumer: what comes meanwhile is given to it even when it is gone. */
const PULL_MS = 30_000;
const ONLY_READER_PULL_MS = 2_000;
/** Servers look at their clocks a little later. */
const GIVEN_AGAIN_SLACK_MS = 250;
const LOOK_MS = 200;
/** How long a server remembers a reader that has gone, ms. */
const FORGOTTEN_MS = 60_000;
const NANOS_PER_MS = 1e6;

export interface NatsStreamOptions {
  readonly address: NatsAddress;
  /** Undefined: whichever has the subject. */
  readonly stream: string | undefined;
  /** Of the messages that are read; null: all of the stream. */
  readonly subject: string | null;
  /** The consumer, which the server keeps and several readers may share; undefined: read from the place in the position. */
  readonly durable: string | undefined;
  /** Whether others are expected to read as the same consumer. */
  readonly isShared: boolean;
  /** Where to begin where nothing was taken before. */
  readonly start: 'earliest' | 'latest';
}

/** Behind what was taken of a stream, which another of the same name is not: by when it was made. */
interface StreamPosition {
  readonly created: string;
  readonly taken: TakenSequences['ranges'];
  /** Where the program looks for it; those of earlier versions do not have it. */
  readonly at?: string;
}

interface Session {
  readonly client: NatsClient;
  readonly manager: JetStreamManager;
  readonly stream: StreamInfo;
}

/**
 * Messages that a stream of JetStream keeps. As a durable consumer each is acknowledged once it is safe, and those that were taken and are
 * given again because the server had not heard of it are told apart by the position. Without one they are read in order from the place in the
 * position, and the server hears nothing.
 */
export class NatsStreamSource implements Source {
  readonly #options: NatsStreamOptions;
  readonly #connection = new KeptConnection(natsReason);
  #client: NatsClient | undefined;
  #position: StreamPosition | null = null;

  constructor(options: NatsStreamOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    this.#position = reading.position as StreamPosition | null;
    void this.#connection.keep(reading, (connected) => this.#read(reading, connected));
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#client?.destroy();
  }

  async #read(reading: SourceReading, connected: () => void): Promise<void> {
    const client = await NatsClient.open(this.#options.address);
    this.#client = client;
    try {
      if (this.#connection.isClosed) return;
      const manager = await client.connection.jetstreamManager({ timeout: ANSWER_MS_MAX });
      const stream = await this.#stream(manager);
      if (!(await this.#begin(stream, reading))) return;
      const consumer = await this.#consumer({ client, manager, stream });
      if (!(await this.#tellGone(stream, consumer, reading))) return;
      if (this.#isOnlyReader) await this.#untilGivenAgain({ client, manager, stream }, consumer);
      await this.#consume({ client, manager, stream }, consumer, { reading, connected });
    } finally {
      client.destroy();
    }
  }

  async #stream(manager: JetStreamManager): Promise<StreamInfo> {
    const { stream: written, subject } = this.#options;
    const name = written ?? (await this.#streamOf(manager, subject ?? ''));
    try {
      return await manager.streams.info(name);
    } catch (cause) {
      if (natsCode(cause) !== '404') throw cause;
      throw new Error(`the server has no stream '${name}': make it, or correct the name`, { cause });
    }
  }

  async #streamOf(manager: JetStreamManager, subject: string): Promise<string> {
    return manager.streams.find(subject).catch((cause: unknown) => {
      if (!(cause instanceof Error) || !/no stream matches/.test(cause.message)) throw cause;
      throw new Error(`no stream of the server has the subject '${subject}': make one, or correct the subject`, { cause });
    });
  }

  /** Where it begins that was never read. That it does is kept, so that what comes before the first message is taken is not passed over. */
  async #begin(stream: StreamInfo, reading: SourceReading): Promise<boolean> {
    const { state } = stream;
    const { start, durable } = this.#options;
    if (!this.#isNew(stream) || start === 'earliest' || durable !== undefined) return true;
    const position = this.#positionIn(stream, state.last_seq === 0 ? [] : [[1, state.last_seq]]);
    if (!(await reading.take({ messages: [], position: { ...position } }))) return false;
    this.#position = position;
    return true;
  }

  /**
   * What the stream has deleted before it was read is a dead letter. Of a part of the subjects it is not known whether that was in it. False
   * when it is closed.
   */
  async #tellGone(stream: StreamInfo, consumer: ConsumerInfo, reading: SourceReading): Promise<boolean> {
    const { created, config, state } = stream;
    const { durable } = this.#options;
    const known = this.#takenOf(created);
    const before = durable === undefined ? known?.at(-1)?.[1] : consumer.delivered.stream_seq;
    const taken = new TakenSequences(known ?? []);
    const [from, to] = [(before ?? state.first_seq) + 1, state.first_seq - 1];
    if (from > to || taken.has(to) || !isWhole(stream, consumer)) return true;
    const what = `messages ${from} to ${to} of the stream '${config.name}' were deleted before they were read`;
    const message = { bytes: new Uint8Array(), problem: `${what}: let the stream keep more, or read it sooner` };
    const position = this.#positionIn(stream, taken.withRange([from, to]).ranges);
    if (!(await reading.take({ messages: [message], position: { ...position }, placeOf: () => `gone ${from}` }))) return false;
    this.#position = position;
    return true;
  }

  /** Nothing was ever taken here, unless of this stream, or of one that was in its place before it was made anew. */
  #isNew({ created }: StreamInfo): boolean {
    return this.#position === null || (this.#position.created !== created && this.#position.at !== this.#at);
  }

  get #at(): string {
    const { address, stream = '' } = this.#options;
    return [stream, ...address.servers.map(({ host, port }) => `${host}:${port}`).sort()].join(' ');
  }

  #positionIn({ created }: StreamInfo, taken: StreamPosition['taken']): StreamPosition {
    return { created, taken, at: this.#at };
  }

  /** Undefined where nothing was taken of the stream. */
  #takenOf(created: string): StreamPosition['taken'] | undefined {
    return this.#position?.created === created ? this.#position.taken : undefined;
  }

  /** The one that the program names, made where it is not there; or one for this connection alone. */
  async #consumer({ manager, stream }: Session): Promise<ConsumerInfo> {
    const { durable } = this.#options;
    const { name } = stream.config;
    if (durable === undefined) return manager.consumers.add(name, this.#placeOnly(stream));
    try {
      const known = await manager.consumers.info(name, durable);
      requireFit(known, this.#options.subject);
      return known;
    } catch (cause) {
      if (natsCode(cause) !== '404') throw cause;
    }
    // A stream that keeps what is not acknowledged is given whole: it takes no other consumer.
    const isToBeWhole = this.#options.isShared || isWorkQueue(stream);
    return manager.consumers.add(name, {
      ...this.#beginning(stream, isToBeWhole ? undefined : this.#takenOf(stream.created)?.[0]?.[1]),
      durable_name: durable,
      ack_policy: 'explicit' as ConsumerConfig['ack_policy'],
      ack_wait: ACK_WAIT_MS * NANOS_PER_MS,
      max_ack_pending: ACK_PENDING_MAX,
    });
  }

  #placeOnly(stream: StreamInfo): Partial<ConsumerConfig> {
    if (isWorkQueue(stream)) {
      throw new Error(`the stream '${stream.config.name}' keeps messages until they are acknowledged: name a consumer with durable`);
    }
    return {
      ...this.#beginning(stream, this.#takenOf(stream.created)?.at(-1)?.[1]),
      ack_policy: 'none' as ConsumerConfig['ack_policy'],
      inactive_threshold: FORGOTTEN_MS * NANOS_PER_MS,
      mem_storage: true,
      num_replicas: 1,
    };
  }

  /** @param behind What is known to be taken; where nothing is, a stream that was made anew since it was read is read as a whole. */
  #beginning(stream: StreamInfo, behind: number | undefined): Partial<ConsumerConfig> {
    const { start, subject, isShared } = this.#options;
    const isNew = isShared || this.#isNew(stream);
    const policy = behind !== undefined ? 'by_start_sequence' : start === 'latest' && isNew ? 'new' : 'all';
    return {
      deliver_policy: policy as ConsumerConfig['deliver_policy'],
      ...(behind === undefined ? {} : { opt_start_seq: behind + 1 }),
      ...(subject === null ? {} : { filter_subject: subject }),
    };
  }

  get #isOnlyReader(): boolean {
    return this.#options.durable !== undefined && !this.#options.isShared;
  }

  /**
   * What was given to this reader before it was interrupted, or to the one in whose place it is, comes again after a while, and would come
   * behind what is newer. First nobody must be given anything more: a request of who is gone is open for a while.
   */
  async #untilGivenAgain({ manager, stream }: Session, found: ConsumerInfo): Promise<void> {
    const until = performance.now() + ONLY_READER_PULL_MS + GIVEN_AGAIN_SLACK_MS;
    let consumer = found;
    while (consumer.num_waiting > 0 && performance.now() < until && !this.#connection.isClosed) {
      await this.#pause(LOOK_MS);
      consumer = await manager.consumers.info(stream.config.name, consumer.name);
    }
    const waitMs = (consumer.config.ack_wait ?? 0) / NANOS_PER_MS;
    if (consumer.num_ack_pending > 0 && waitMs <= ACK_WAIT_MS_MAX) await this.#pause(waitMs + GIVEN_AGAIN_SLACK_MS);
  }

  /** Shorter when it is closed meanwhile: the next step sees that. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#connection.signal }).catch(() => undefined);
  }

  async #consume(
    { client, stream }: Session,
    consumer: ConsumerInfo,
    { reading, connected }: { readonly reading: SourceReading; readonly connected: () => void },
  ): Promise<void> {
    const intake = new StreamIntake({
      client,
      reading,
      isAcknowledging: this.#options.durable !== undefined,
      ackWaitMs: Math.min(ACK_WAIT_MS, ackWaitOf(consumer.config) ?? ACK_WAIT_MS),
      known: this.#takenOf(stream.created) ?? [],
      positionBehind: (taken) => ({ ...this.#positionIn(stream, taken) }),
      taken: (position) => {
        this.#position = position as unknown as StreamPosition;
      },
    });
    const waits = this.#isOnlyReader
      ? { pullMs: ONLY_READER_PULL_MS, stillMsMax: ACK_WAIT_MS }
      : { pullMs: PULL_MS, stillMsMax: Number.POSITIVE_INFINITY };
    const pull = new StreamPull({ client, stream: stream.config.name, consumer: consumer.name, intake, ...waits });
    try {
      await Promise.race([client.flushed(), intake.failed]);
      connected();
      pull.ask();
      throw await Promise.race([client.over, intake.failed]);
    } finally {
      pull.close();
      await intake.close();
    }
  }
}

function isWorkQueue({ config }: StreamInfo): boolean {
  return (config.retention as string) === 'workqueue';
}

/** @throws Error when the consumer is not one that this source can read as */
function requireFit({ name, config }: ConsumerInfo, subject: string | null): void {
  const own = config.filter_subject ?? '';
  if (config.deliver_subject !== undefined) throw new Error(`the consumer '${name}' is there, and pushes its messages: use another name`);
  if ((config.ack_policy as string) !== 'explicit') {
    throw new Error(`the consumer '${name}' is there, and does not expect each message to be acknowledged: use another name`);
  }
  if (subject !== null && own !== '' && own !== subject) {
    throw new Error(
      `the consumer '${name}' is there, and reads '${own}' instead of '${subject}': use another name, or correct the subject`,
    );
  }
}
