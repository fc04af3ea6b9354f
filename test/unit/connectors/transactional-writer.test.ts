import { afterEach, expect, it, vi } from 'vitest';
import type { LedgerPlace } from '../../../worker/connectors/connector.ts';
import { KafkaClient } from '../../../worker/connectors/kafka/kafka-client.ts';
import type { Addressed } from '../../../worker/connectors/kafka/kafka-writer.ts';
import { TransactionalWriter } from '../../../worker/connectors/kafka/transactional-writer.ts';

/** A cluster that takes everything, and notes who connects and what each transaction has. */
function listenTo(log: string[]): void {
  const done = async (): Promise<void> => undefined;
  const transaction = (id: string) => ({
    abort: done,
    isActive: () => true,
    sendBatch: async ({
      topicMessages,
    }: {
      readonly topicMessages: readonly { readonly messages: readonly { readonly value: string }[] }[];
    }) => void log.push(`${id}: ${topicMessages.flatMap(({ messages }) => messages.map(({ value }) => value))}`),
    sendOffsets: async ({ consumerGroupId }: { readonly consumerGroupId: string }) => void log.push(`${id}: offset of ${consumerGroupId}`),
    commit: done,
  });
  const producer = ({ transactionalId }: { readonly transactionalId: string }) => {
    const id = transactionalId.length > 20 ? 'some id' : transactionalId;
    log.push(`connected as ${id}`);
    return { connect: done, transaction: async () => transaction(id) };
  };
  const admin = () => ({ connect: done, fetchOffsets: async () => [] });
  const client = { kafka: { producer, admin }, refusal: undefined, destroy: () => void log.push('disconnected') };
  vi.spyOn(KafkaClient, 'open').mockResolvedValue(client as never);
}

const message = (payload: string, place?: LedgerPlace): Addressed => ({
  topic: 't',
  message: { id: payload, topic: null, payload, ...(place && { place }) },
});

afterEach(() => vi.restoreAllMocks());

it.each([[undefined], ['named']])(
  'keeps its connection for messages that are in no ledger (transactional id: %s)',
  async (transactionalId) => {
    const log: string[] = [];
    listenTo(log);
    const writer = new TransactionalWriter({ address: {} as never, isGzip: false, transactionalId });
    await writer.write([message('a', { ledger: 'l', number: 1 })]);
    await writer.write([message('replayed')]);
    await writer.write([message('b', { ledger: 'l', number: 2 })]);
    const id = transactionalId ?? 'cep-l';
    const offset = `${id}: offset of cep-l`;
    expect(log).toEqual([`connected as ${id}`, `${id}: a`, offset, `${id}: replayed`, `${id}: b`, offset]);
  },
);

it('connects anew for another ledger, and for the first where it had none', async () => {
  const log: string[] = [];
  listenTo(log);
  const writer = new TransactionalWriter({ address: {} as never, isGzip: false, transactionalId: undefined });
  await writer.write([message('replayed')]);
  await writer.write([message('a', { ledger: 'l', number: 1 })]);
  await writer.write([message('b', { ledger: 'm', number: 1 })]);
  expect(log.filter((line) => line.includes('connected'))).toEqual([
    'connected as some id',
    'disconnected',
    'connected as cep-l',
    'disconnected',
    'connected as cep-m',
  ]);
});
