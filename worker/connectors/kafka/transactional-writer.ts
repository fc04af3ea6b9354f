import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Producer, Transaction } from 'kafkajs';
import type { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { KafkaClient } from './kafka-client.ts';
import { type Addressed, batchOf, type KafkaWriter, type KafkaWriterOptions } from './kafka-writer.ts';
import { stableOffsets } from './stable-offsets.ts';

/** After that the cluster ends by itself what a process has left open, for readers wait until then, ms. */
const TRANSACTION_MS_MAX = 30_000;
/** For the end of one that has failed; the next connection ends it too. */
const ABORT_MS_MAX = 2_000;
const LEDGER_PARTITION = 0;

export interface TransactionalWriterOptions extends KafkaWriterOptions {
  /** Undefined: one for each ledger. */
  readonly transactionalId: string | undefined;
}

interface Open {
  readonly client: KafkaClient;
  readonly producer: Producer;
  readonly admin: Admin;
  /** Of the messages that this is for; undefined where they are in none. */
  readonly ledger: string | undefined;
  /** By topic, the number up to which everything is in the cluster. */
  readonly through: Map<string, number>;
}

/**
 * Writes each batch in a transaction, and with it, as an offset of a group that is named after the ledger, the number of its last message:
 * so the cluster has both or neither. Whoever connects makes an end of what another has left open under the same transactional id, and only
 * then asks how far the ledger is, as it is when no transaction is about to change that: messages up to there are in the cluster, and are not written again. That holds for what comes again after
 * a crash as for a commit whose answer was lost.
 */
export class TransactionalWriter implements KafkaWriter {
  readonly #options: TransactionalWriterOptions;
  #open: Promise<Open> | undefined;
  #client: KafkaClient | undefined;

  constructor(options: TransactionalWriterOptions) {
    this.#options = options;
  }

  async write(addressed: readonly Addressed[]): Promise<void> {
    for (let from = 0; from < addressed.length; ) {
      const ledger = ledgerOf(addressed[from]);
      const end = addressed.findIndex((one, at) => at > from && ledgerOf(one) !== ledger);
      const batch = addressed.slice(from, end < 0 ? undefined : end);
      await this.#writeOnce(await this.#opened(ledger), batch);
      from += batch.length;
    }
  }

  /** Messages that are in no ledger go over the connection that there is. */
  async #opened(ledger: string | undefined): Promise<Open> {
    const open = await this.#open;
    if (open !== undefined && ledger !== undefined && open.ledger !== ledger) await this.close();
    this.#open ??= this.#connect(ledger);
    return this.#open;
  }

  async #connect(ledger: string | undefined): Promise<Open> {
    const { address, transactionalId = `cep-${ledger ?? randomUUID()}` } = this.#options;
    const { Partitioners } = (await import('kafkajs')).default;
    const client = await KafkaClient.open(address);
    this.#client = client;
    const admin = client.kafka.admin();
    const producer = client.kafka.producer({
      idempotent: true,
      transactionalId,
      transactionTimeout: TRANSACTION_MS_MAX,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      // What was begun before takes its time to end.
      retry: { retries: 8, initialRetryTime: 50, maxRetryTime: 2_000 },
    });
    await producer.connect();
    await admin.connect();
    // The first transaction ends those of others; it is empty, which the cluster does not hear of.
    await (await producer.transaction()).abort();
    return { client, producer, admin, ledger, through: new Map() };
  }

  async #writeOnce(open: Open, batch: readonly Addressed[]): Promise<void> {
    const { producer, ledger, through } = open;
    const topics = [...new Set(batch.map(({ topic }) => topic))];
    if (ledger !== undefined) await learn(open, topics);
    const fresh = batch.filter(({ message, topic }) => (message.place?.number ?? Number.POSITIVE_INFINITY) > (through.get(topic) ?? 0));
    if (fresh.length === 0) return;
    const transaction = await producer.transaction();
    try {
      await transaction.sendBatch(batchOf(fresh, this.#options.isGzip));
      const last = fresh.at(-1)?.message.place?.number;
      if (ledger !== undefined && last !== undefined) await note(transaction, { ledger, topics, number: last });
      await transaction.commit();
      if (last !== undefined) for (const topic of topics) through.set(topic, last);
    } catch (error) {
      await Promise.race([abort(transaction), sleep(ABORT_MS_MAX, undefined, { ref: false })]);
      throw error;
    }
  }

  get refusal(): ForbiddenAddress | undefined {
    return this.#client?.refusal;
  }

  async close(): Promise<void> {
    this.#client?.destroy();
    [this.#client, this.#open] = [undefined, undefined];
  }
}

function ledgerOf(addressed: Addressed | undefined): string | undefined {
  return addressed?.message.place?.ledger;
}

/** How far the ledger is in topics of which this connection has not asked yet. */
async function learn({ admin, ledger, through }: Open, topics: readonly string[]): Promise<void> {
  const unknown = topics.filter((topic) => !through.has(topic));
  if (unknown.length === 0) return;
  const found = await stableOffsets(admin, groupOf(ledger), unknown);
  for (const topic of unknown) {
    const partition = found.find((one) => one.topic === topic)?.partitions.find((one) => one.partition === LEDGER_PARTITION);
    through.set(topic, Math.max(0, Number(partition?.offset ?? 0)));
  }
}

interface Entry {
  readonly ledger: string;
  readonly topics: readonly string[];
  readonly number: number;
}

async function note(transaction: Transaction, { ledger, topics, number }: Entry): Promise<void> {
  const partitions = [{ partition: LEDGER_PARTITION, offset: String(number) }];
  await transaction.sendOffsets({ consumerGroupId: groupOf(ledger), topics: topics.map((topic) => ({ topic, partitions })) });
}

function groupOf(ledger: string | undefined): string {
  return `cep-${ledger}`;
}

async function abort(transaction: Transaction): Promise<void> {
  try {
    if (transaction.isActive()) await transaction.abort();
  } catch {
    // The next connection does it, or the cluster when its time is over.
  }
}
