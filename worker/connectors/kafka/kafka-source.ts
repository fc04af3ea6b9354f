import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Cluster, Consumer, ConsumerEndBatchProcessEvent, EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { ReplicaReading, Source, SourceBatch, SourceMessage, SourcePosition, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { type KafkaAddress, KafkaClient, kafkaReason, refusalOf } from './kafka-client.ts';
import { sayLostPlaces } from './lost-places.ts';
import { OffsetCommits } from './offset-commits.ts';
import { subscribedAssigner } from './partition-assigner.ts';
import { stableOffsets } from './stable-offsets.ts';
import { type OffsetScope, TakenOffsets } from './taken-offsets.ts';
import { identityOf } from './topic-identity.ts';
import { unpackingProblem } from './unpacking.ts';

/** Of one answer of a broker, which is read only when all of the last one was taken. */
const FETCH_BYTES_MAX = 4 * 1_048_576;
const PARTITION_BYTES_MAX = 1_048_576;
/** How long a broker waits for messages before it says that there are none. */
const FETCH_MS_MAX = 500;
/** So old may be what is known of the topic: after this time at most partitions that it was given are read. */
const METADATA_MS_MAX = 30_000;
/** Handed over at a time. */
const TAKE_MESSAGES_MAX = 5_000;
const TAKE_BYTES_MAX = 1_048_576;
/** So often a member says within the time of a session that it is there. */
const HEARTBEATS_PER_SESSION = 5;
/** Time for a cluster that has just begun to find and load what it knows of the group, and how often it is asked meanwhile, ms. */
const LOADING_MS_MAX = 15_000;
const LOADING_PAUSE_MS = 250;
/** Time to leave the group when it is closed: who does not leave is waited for by the others. */
const LEAVE_MS_MAX = 2_000;

export interface KafkaSourceOptions {
  readonly address: KafkaAddress;
  readonly topic: string;
  readonly group: string;
  /** Where to begin with a partition of which neither this source nor the group has taken anything. */
  readonly start: 'earliest' | 'latest';
  /** It reads the partitions of one of several replicas. @default its share of all */
  readonly replica?: ReplicaReading | undefined;
  /** How many messages are handed over at a time. @default 5,000 */
  readonly messagesMax?: (() => number | undefined) | undefined;
  /** After this time a member that is silent has left the group. */
  readonly sessionMs: number;
}

/** The group has moved on: another assignment follows. */
const rebalances: ReadonlySet<unknown> = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID']);

/** It will know the group in a moment. */
const loadings: ReadonlySet<unknown> = new Set(['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP']);

/** The library drops what the brokers said when none of them knew who coordinates the group. */
function isLoading(error: unknown): boolean {
  return loadings.has(refusalOf(error)) || (error instanceof Error && error.name === 'KafkaJSGroupCoordinatorNotFound');
}

/** In one topic, and not in another that has its name later. */
interface Places {
  readonly identity: string | undefined;
  readonly taken: TakenOffsets;
  /** What the group may know. */
  readonly safe: TakenOffsets;
}

/** What was not read of a partition, and is not there any more: up to the offset from which on it is read. */
interface Gone {
  readonly partition: number;
  readonly from: bigint;
  readonly to: bigint;
}

/** One connection's worth of reading. */
interface Session {
  readonly client: KafkaClient;
  readonly admin: Admin;
  readonly consumer: Consumer;
  /** That of the consumer, which knows all partitions that it is assigned. */
  readonly cluster: Cluster;
  readonly scope: OffsetScope;
  /** Undefined before any partition was assigned. */
  places: Places | undefined;
  readonly commits: OffsetCommits;
  /** Ends it, for this reason. */
  readonly fail: (error: unknown) => void;
}

/**
 * Messages of a topic, as a member of a consumer group. The offset behind a message is committed once the message is safe, and not before;
 * what follows is read meanwhile.
 * Where reading goes on after an interruption the position counts before the group's offsets if it is ahead of them, so what was taken and
 * not committed does not come twice. Nothing is fetched while a batch waits to be taken.
 */
export class KafkaSource implements Source {
  readonly #options: KafkaSourceOptions;
  readonly #connection = new KeptConnection(kafkaReason);
  #leave: () => Promise<void> = async () => undefined;
  /** What was taken last, of whatever cluster it was. */
  #position: SourceReading['position'] = null;
  /** The same of what is safe. */
  #safePosition: SourceReading['position'] = null;
  /** What is being handed over, perhaps from a connection that is gone. */
  #underWay: Promise<boolean> = Promise.resolve(true);
  /** Partitions that hold messages since they were assigned, until whoever takes the messages knows of that. */
  #awaited: readonly string[] | undefined;
  /** Counts assignments: what was asked for an earlier one is of no use. */
  #assignment = 0;

  constructor(options: KafkaSourceOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    this.#position = reading.position;
    this.#safePosition = reading.position;
    void this.#connection.keep(reading, (connected) => this.#read(reading, connected));
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.#leave();
  }

  async #read(reading: SourceReading, connected: () => void): Promise<void> {
    for (const end = performance.now() + LOADING_MS_MAX; ; ) {
      try {
        await this.#readOnce(reading, connected);
        return;
      } catch (error) {
        if (!isLoading(error) || this.#connection.isClosed || performance.now() > end) throw error;
        await sleep(LOADING_PAUSE_MS);
      }
    }
  }

  async #readOnce(reading: SourceReading, connected: () => void): Promise<void> {
    const { address, group, topic, replica } = this.#options;
    const client = await KafkaClient.open(address);
    await sayLostPlaces();
    const assigner = await subscribedAssigner(replica);
    let cluster: Cluster | undefined;
    const admin = client.kafka.admin();
    const consumer = client.kafka.consumer({
      groupId: group,
      partitionAssigners: [
        (config) => {
          ({ cluster } = config);
          return assigner(config);
        },
      ],
      sessionTimeout: this.#options.sessionMs,
      heartbeatInterval: this.#heartbeatMs,
      maxWaitTimeInMs: FETCH_MS_MAX,
      maxBytes: FETCH_BYTES_MAX,
      maxBytesPerPartition: PARTITION_BYTES_MAX,
      metadataMaxAge: METADATA_MS_MAX,
      allowAutoTopicCreation: false,
      // A cluster that has just begun needs some seconds until it has a coordinator for the group.
      retry: { retries: 6, initialRetryTime: 200, maxRetryTime: 2_000, restartOnFailure: async () => false },
    });
    if (cluster === undefined) throw new TypeError('the Kafka client is not the one that this was written for');
    const ofConsumer: Cluster = cluster;
    this.#leave = async (): Promise<void> => {
      const left = Promise.allSettled([consumer.disconnect(), admin.disconnect()]);
      await Promise.race([left, sleep(LEAVE_MS_MAX, undefined, { ref: false })]);
      client.destroy();
    };
    try {
      await admin.connect();
      await requireTopic(admin, topic);
      const { clusterId } = await admin.describeCluster();
      // It may be taken yet, and is not to be read again then.
      await this.#underWay;
      const scope = { cluster: clusterId, group, topic };
      await new Promise<void>((resolve, reject) => {
        this.#connection.signal.addEventListener('abort', () => resolve(), { once: true });
        const failed = (error: unknown): void => {
          if (!rebalances.has(refusalOf(error))) reject(error);
        };
        const commits = new OffsetCommits({ consumer, topic, failed });
        const leave = this.#leave;
        this.#leave = async () => {
          await Promise.race([commits.settled(), sleep(LEAVE_MS_MAX, undefined, { ref: false })]);
          await leave();
        };
        const session: Session = { client, admin, consumer, cluster: ofConsumer, scope, places: undefined, commits, fail: reject };
        this.#consume(session, reading, connected).catch(reject);
      });
    } finally {
      await this.#leave();
    }
  }

  async #consume(session: Session, reading: SourceReading, connected: () => void): Promise<void> {
    const { consumer, fail } = session;
    const { topic } = this.#options;
    consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error));
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      const { memberAssignment: own } = payload;
      const partitions = Object.hasOwn(own, topic) ? (own[topic] ?? []) : [];
      this.#begin(session, partitions, reading).then(connected, (error: unknown) => {
        if (!rebalances.has(refusalOf(error))) fail(error);
      });
    });
    consumer.on(consumer.events.END_BATCH_PROCESS, (event) => this.#passOver(session, event, reading));
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: this.#options.start === 'earliest' });
    const eachBatch = (payload: EachBatchPayload): Promise<void> => this.#take(session, payload, reading);
    await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch });
  }

  /** Nothing is read of the partitions before it is known where to begin. */
  async #begin(session: Session, partitions: readonly number[], reading: SourceReading): Promise<void> {
    const { admin, consumer, cluster, commits } = session;
    const { topic, group, start } = this.#options;
    const assignment = ++this.#assignment;
    commits.clear();
    const assigned = [{ topic, partitions: [...partitions] }];
    consumer.pause(assigned);
    const committed = await stableOffsets(admin, group, [topic]);
    const ends = await endsOf(cluster, topic);
    const identity = await identityOf(cluster, topic);
    if (assignment !== this.#assignment || this.#connection.isClosed) return;
    const { taken, safe } = this.#placesIn(session, identity);
    const committedOf = new Map(committed[0]?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
    const awaited: string[] = [];
    const gone: Gone[] = [];
    const untold: { readonly partition: number; readonly offset: string }[] = [];
    for (const { partition, low, high } of ends.filter((end) => partitions.includes(end.partition))) {
      const known = committedOf.get(partition) ?? -1n;
      const offsets = { committed: known < 0n ? undefined : known, low, high };
      const [next, told] = [taken.beginning(partition, offsets, start), safe.beginning(partition, offsets, start)];
      const from = taken.goneFrom(partition, offsets);
      if (from !== undefined) gone.push({ partition, from, to: next });
      taken.set(partition, next);
      if (next < offsets.high) awaited.push(String(partition));
      consumer.seek({ topic, partition, offset: String(next) });
      if (offsets.committed !== told) untold.push({ partition, offset: String(told) });
    }
    const isFirst = !taken.isCounted;
    const isBegun = (partition: number): boolean => partitions.includes(partition) || (committedOf.get(partition) ?? -1n) >= 0n;
    for (const places of [taken, safe]) places.count(ends.length, isBegun);
    this.#position ??= taken.position;
    this.#safePosition ??= safe.position;
    if (isFirst && start === 'latest' && !((await this.#keep(taken, reading)) && assignment === this.#assignment)) return;
    if (gone.length > 0 && !((await this.#tell(gone, taken, reading)) && assignment === this.#assignment)) return;
    // From now on it is the group's place too: what comes before the first message is taken is not skipped by the next start.
    for (const one of untold) await consumer.commitOffsets([{ topic, ...one }]);
    if (assignment !== this.#assignment) return;
    this.#awaited = awaited.length > 0 ? awaited : undefined;
    consumer.resume(assigned);
  }

  /** Where the topic is another than the last one of this name what was taken of that one is not taken of this one. */
  #placesIn(session: Session, identity: string | undefined): Places {
    const { scope, places } = session;
    if (places !== undefined && (identity === undefined || identity === places.identity)) return places;
    const within = { ...scope, identity };
    const [taken, safe] = [new TakenOffsets(within, this.#position), new TakenOffsets(within, this.#safePosition)];
    session.places = { identity, taken, safe };
    return session.places;
  }

  /** How many partitions there are is kept before anything is taken, so that those that come meanwhile are known as such by the next start. */
  async #keep({ position }: TakenOffsets, reading: SourceReading): Promise<boolean> {
    await this.#underWay;
    this.#underWay = this.#handOver(reading, { messages: [], position });
    return this.#underWay;
  }

  /** What cannot be read any more is a dead letter. False when it is closed. */
  async #tell(gone: readonly Gone[], taken: TakenOffsets, reading: SourceReading): Promise<boolean> {
    await this.#underWay;
    const { position } = taken;
    const messages = gone.map(({ partition, from, to }): SourceMessage => {
      const what = `messages of partition ${partition} from offset ${from} on were deleted before they were read, and reading goes on at ${to}`;
      return { bytes: new Uint8Array(), problem: `${what}: let the topic keep more, or read it sooner` };
    });
    const placeOf = (index: number): string => `gone ${gone[index]?.partition} ${gone[index]?.from}`;
    this.#underWay = this.#handOver(reading, { messages, position, placeOf });
    return this.#underWay;
  }

  async #take(session: Session, payload: EachBatchPayload, reading: SourceReading): Promise<void> {
    const { places } = session;
    if (places === undefined) return;
    const { taken } = places;
    const { batch, heartbeat, resolveOffset, isStale } = payload;
    const { topic, partition } = batch;
    const next = taken.next(partition) ?? 0n;
    const fresh = batch.messages.filter((message) => BigInt(message.offset) >= next && unpackingProblem(message) !== null);
    for (const piece of piecesOf(fresh, this.#options.messagesMax?.())) {
      if (this.#connection.isClosed || isStale()) return;
      // With the last message what is none is taken that stands behind it: the mark of a transaction.
      const last = piece.at(-1) === fresh.at(-1) ? batch.lastOffset() : (piece.at(-1)?.offset ?? '');
      const behind = BigInt(last) + 1n;
      const position = taken.with(partition, behind);
      const messages = piece.map((message) => messageOf(message, topic));
      const onSafe = this.#onSafe(session, partition, behind, position);
      const awaited = this.#awaited;
      const placeOf = (index: number): string => piece[index]?.offset ?? '';
      const onTaken = (): void => taken.set(partition, behind);
      this.#underWay = this.#handOver(reading, { messages, position, partition: String(partition), placeOf, awaited, onSafe }, onTaken);
      if (!(await this.#whileBeating(heartbeat, this.#underWay))) return;
      if (this.#awaited === awaited) this.#awaited = undefined;
      resolveOffset(last);
      await heartbeat();
    }
    // Where nothing of it is fresh.
    resolveOffset(batch.lastOffset());
  }

  /** What holds no messages, as transactions that were given up, is not handed over by the library. It is behind the place all the same. */
  #passOver(session: Session, { payload }: ConsumerEndBatchProcessEvent, reading: SourceReading): void {
    const { places } = session;
    const { partition, batchSize, firstOffset, lastOffset } = payload;
    const next = places?.taken.next(partition);
    const isAtPlace = next !== undefined && firstOffset !== null && BigInt(firstOffset) <= next && BigInt(lastOffset) >= next;
    if (batchSize > 0 || places === undefined || !isAtPlace || this.#connection.isClosed) return;
    const behind = BigInt(lastOffset) + 1n;
    const position = places.taken.with(partition, behind);
    places.taken.set(partition, behind);
    this.#underWay = this.#handOver(reading, { messages: [], position, onSafe: this.#onSafe(session, partition, behind, position) });
    this.#underWay.catch(session.fail);
  }

  /** The group is told, unless the partition is somebody else's by then. */
  #onSafe({ places, commits }: Session, partition: number, behind: bigint, position: SourcePosition): () => void {
    const assignment = this.#assignment;
    return () => {
      this.#safePosition = position;
      places?.safe.set(partition, behind);
      if (assignment === this.#assignment && !this.#connection.isClosed) commits.add(partition, behind);
    };
  }

  /** Who waits for what is under way goes on from behind it: `onTaken` is called before. */
  async #handOver(reading: SourceReading, batch: SourceBatch, onTaken?: () => void): Promise<boolean> {
    const isTaken = await reading.take(batch);
    if (!isTaken) return false;
    this.#position = batch.position;
    onTaken?.();
    return true;
  }

  get #heartbeatMs(): number {
    return Math.ceil(this.#options.sessionMs / HEARTBEATS_PER_SESSION);
  }

  /** The member stays in the group while it waits, however long that is. */
  async #whileBeating<T>(heartbeat: () => Promise<void>, waiting: Promise<T>): Promise<T> {
    // What is wrong with the group is told by the next request, when what waits is through.
    const timer = setInterval(() => void heartbeat().catch(() => undefined), this.#heartbeatMs);
    try {
      return await waiting;
    } finally {
      clearInterval(timer);
    }
  }
}

/** @throws Error when the cluster has no such topic, or does not show it */
async function requireTopic(admin: Admin, topic: string): Promise<void> {
  if ((await admin.listTopics()).includes(topic)) return;
  throw new Error(`the cluster has no topic '${topic}', or the user may not see it: create it, or correct the name`);
}

interface Ends {
  readonly partition: number;
  /** Of the first message that is still there. */
  readonly low: bigint;
  /** Behind the last message. */
  readonly high: bigint;
}

/** Of all partitions that the consumer knows. */
async function endsOf(cluster: Cluster, topic: string): Promise<readonly Ends[]> {
  const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ partition: partitionId }));
  const offsetsOf = async (fromBeginning: boolean): Promise<ReadonlyMap<number, bigint>> => {
    const [found] = await cluster.fetchTopicsOffset([{ topic, partitions, fromBeginning }]);
    return new Map(found?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
  };
  const [high, low] = [await offsetsOf(false), await offsetsOf(true)];
  return partitions.map(({ partition }) => ({ partition, low: low.get(partition) ?? 0n, high: high.get(partition) ?? 0n }));
}

/** In order; none is larger than may be handed over at a time, unless one message is. */
function* piecesOf(messages: readonly KafkaMessage[], messagesMax = TAKE_MESSAGES_MAX): Generator<readonly KafkaMessage[]> {
  let piece: KafkaMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const length = message.value?.length ?? 0;
    if (piece.length > 0 && (piece.length >= messagesMax || bytes + length > TAKE_BYTES_MAX)) {
      yield piece;
      [piece, bytes] = [[], 0];
    }
    piece.push(message);
    bytes += length;
  }
  if (piece.length > 0) yield piece;
}

function messageOf(message: KafkaMessage, topic: string): SourceMessage {
  const { value } = message;
  if (value === null) return { bytes: new Uint8Array(), problem: 'found a message without a value, expected a JSON object' };
  const problem = unpackingProblem(message);
  return typeof problem === 'string' ? { bytes: value, problem } : { bytes: value, topicPart: topic.split(/[./:]/).at(-1) };
}
