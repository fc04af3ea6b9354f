import type { Admin } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasBroker, type RunningBroker } from './containers.ts';
import { clientOf, makeTopics, producerOf, startKafka } from './kafka-publisher.ts';
import { ProgramRun } from './program-run.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);

/** What is done to a topic, and not to what is written to it. */
describe.skipIf(!(await hasBroker('kafka')))('kafka, where a topic', () => {
  let broker: RunningBroker;
  let admin: Admin;
  const runs: ProgramRun[] = [];
  beforeAll(async () => {
    broker = await startKafka();
    await makeTopics(broker.port, ['remade', 'replaced', 'trimmed', 'skipped', 'grown', 'growing', 'empty', 'shared', 'given-up'], 1);
    admin = clientOf(broker.port, 10).admin();
    await admin.connect();
  });
  afterAll(async () => {
    for (const run of runs) await run.remove();
    await admin?.disconnect();
    await broker?.stop();
  });

  const begin = (topic: string, more = ''): ProgramRun => {
    const run = new ProgramRun(
      (folder) => `
event Reading:
    n: int

connector Broker = kafka (brokers: "127.0.0.1:${broker.port}", sasl_username: "cep", sasl_password: "secret", group_id: "${topic}", session_timeout: 3s${more})
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Broker, topic: "${topic}")
    .emit(n)
    .to(Out)
`,
    );
    runs.push(run);
    return run;
  };
  const publish = async (topic: string, numbers: readonly number[], partition = 0): Promise<void> => {
    const producer = await producerOf(broker.port);
    const messages = numbers.map((n) => ({ partition, value: `{"event_type":"Reading","n":${n}}` }));
    // A topic that was made just now has no leader for a while.
    await vi.waitFor(() => producer.send({ topic, acks: -1, messages }), { timeout: 30_000, interval: 200 });
    await producer.disconnect();
  };
  const makeAnew = async (topic: string): Promise<void> => {
    await admin.deleteTopics({ topics: [topic] });
    await vi.waitFor(() => admin.createTopics({ topics: [{ topic, numPartitions: 1 }] }).then((made) => expect(made).toBe(true)), {
      timeout: 30_000,
      interval: 10,
    });
  };
  const numbersOf = (run: ProgramRun): unknown[] => run.delivered('out.jsonl').map(({ data }) => data['n']);

  it('was made anew while nobody read, gives all that the new one holds, however much that is', async () => {
    const run = begin('remade');
    await publish('remade', range(0, 10));
    await run.startReading();
    await run.untilDelivered('out.jsonl', 10);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await makeAnew('remade');
    await publish('remade', range(10, 40));
    await run.startReading();
    await run.untilDelivered('out.jsonl', 40);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual(range(0, 40));
  });

  it('is made anew while it is read, gives all that the new one holds', async () => {
    const run = begin('replaced');
    await publish('replaced', range(0, 10));
    await run.startReading();
    await run.untilDelivered('out.jsonl', 10);
    await makeAnew('replaced');
    await publish('replaced', range(10, 15));
    await run.untilDelivered('out.jsonl', 15);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual(range(0, 15));
  });

  it.each([
    ['earliest', 'trimmed', range(15, 25)],
    ['latest', 'skipped', range(20, 25)],
  ])('has lost what was not read yet (start: %s), says so with a dead letter', async (start, topic, rest) => {
    const run = begin(topic, `, start: "${start}"`);
    await run.startReading();
    await publish(topic, range(0, 10));
    await run.untilDelivered('out.jsonl', 10);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await publish(topic, range(10, 20));
    const trimmed = { topic, partitions: [{ partition: 0, offset: '15' }] };
    await vi.waitFor(() => admin.deleteTopicRecords(trimmed), { timeout: 30_000, interval: 200 });
    await run.startReading();
    await publish(topic, range(20, 25));
    await run.untilDelivered('out.jsonl', 10 + rest.length);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual([...range(0, 10), ...rest]);
    const error = expect.stringContaining(
      `messages of partition 0 from offset 10 on were deleted before they were read, and reading goes on at ${rest[0]}`,
    );
    expect(run.letters()).toEqual([expect.objectContaining({ connector: 'Broker', code: 'unreadable_message', error })]);
  });

  it('has deleted transactions that were given up, says nothing of them', async () => {
    const topic = 'given-up';
    const run = begin(topic);
    const producer = clientOf(broker.port, 8).producer({ transactionalId: topic, idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const write = async (n: number, end: 'commit' | 'abort'): Promise<void> => {
      const transaction = await producer.transaction();
      await transaction.send({ topic, messages: [{ value: `{"event_type":"Reading","n":${n}}` }] });
      await transaction[end]();
    };
    await run.startReading();
    await write(0, 'commit');
    await run.untilDelivered('out.jsonl', 1);
    await write(1, 'abort');
    // Two messages, and behind each what became of its transaction.
    const told = async () => (await admin.fetchOffsets({ groupId: topic, topics: [topic] }))[0]?.partitions[0]?.offset;
    await vi.waitFor(async () => expect(await told()).toBe('4'), { timeout: 30_000, interval: 100 });
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '-1' }] });
    await run.startReading();
    await write(2, 'commit');
    await producer.disconnect();
    await run.untilDelivered('out.jsonl', 2);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual([0, 2]);
    expect(run.letters()).toEqual([]);
  });

  it('is given partitions while nobody reads, and what is written to them is read from its beginning', async () => {
    const run = begin('grown', ', start: "latest"');
    await run.startReading();
    await publish('grown', range(0, 10));
    await run.untilDelivered('out.jsonl', 10);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await admin.createPartitions({ topicPartitions: [{ topic: 'grown', count: 2 }] });
    await publish('grown', range(10, 20), 1);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 20);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual(range(0, 20));
  });

  it('is given partitions while it is read, gives what is written to them from their beginning', async () => {
    const run = begin('growing', ', start: "latest"');
    await run.startReading();
    await admin.createPartitions({ topicPartitions: [{ topic: 'growing', count: 2 }] });
    await publish('growing', range(0, 10), 1);
    await run.untilDelivered('out.jsonl', 10);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual(range(0, 10));
  });

  it('is given partitions before anything was taken of it, and what is written to them is read from its beginning', async () => {
    const run = begin('empty', ', start: "latest"');
    await run.startReading();
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await admin.createPartitions({ topicPartitions: [{ topic: 'empty', count: 2 }] });
    await publish('empty', range(0, 10), 1);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 10);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual(range(0, 10));
  });

  it('gets a partition that goes to a member which had none, and what stands in it is read from its beginning', async () => {
    // The partitions go to the members in the order of their names.
    const both = ['a', 'b'].map((name) => begin('shared', `, start: "latest", client_id: "${name}"`));
    for (const run of both) await run.startReading();
    const members = async () => (await admin.describeGroups(['shared'])).groups[0]?.members.length;
    await vi.waitFor(async () => expect(await members()).toBe(2), { timeout: 30_000, interval: 100 });
    await admin.createPartitions({ topicPartitions: [{ topic: 'shared', count: 2 }] });
    await publish('shared', range(0, 10), 1);
    const all = (): unknown[] => both.flatMap(numbersOf);
    await vi.waitUntil(() => all().length === 10, { timeout: 45_000, interval: 100 }).catch(() => undefined);
    for (const run of both) expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(all()).toEqual(range(0, 10));
  });
});
