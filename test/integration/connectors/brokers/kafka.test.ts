import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, { type Kafka, type Transaction } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { stableOffsets } from '../../../../worker/connectors/kafka/stable-offsets.ts';
import { openSink, openSource, settingsOf } from '../../../../worker/connectors/registry.ts';
import { audit, type Delivered } from '../audit.ts';
import { NumberedLog } from '../numbered-log.ts';
import { auditedRun } from './audited-run.ts';
import { committedIn } from './committed-topic.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { advertisedAt, clientOf, KafkaPublisher, makeTopics, producerOf, startKafka } from './kafka-publisher.ts';
import { Link } from './link.ts';
import { ProgramRun } from './program-run.ts';
import { troubleFor } from './trouble.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { CompressionTypes } = kafkajs;

describe.skipIf(!(await hasBroker('kafka')))('kafka', () => {
  let broker: RunningBroker;
  let link: Link;
  const runs: ProgramRun[] = [];
  beforeAll(async () => {
    link = await Link.to(() => broker.port);
    broker = await startKafka(advertisedAt(link.port));
    const names = ['readings', 'restarted', 'orders', 'alerts', 'outputs', 'mixed', 'shared', 'committed'];
    await makeTopics(broker.port, names, 3);
    await makeTopics(broker.port, ['timed', 'sided', 'marked'], 2);
  });
  afterAll(async () => {
    for (const run of runs) await run.remove();
    await link?.close();
    await broker?.stop();
  });

  const withAdmin = async <T>(ask: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> => {
    const admin = clientOf(broker.port, 10).admin();
    try {
      await admin.connect();
      return await ask(admin);
    } finally {
      await admin.disconnect();
    }
  };
  const begin = (program: (folder: string) => string): ProgramRun => {
    const run = new ProgramRun(program);
    runs.push(run);
    return run;
  };
  const connector = (more = ''): string =>
    `connector Broker = kafka (brokers: "127.0.0.1:${broker.port}", sasl_username: "cep", sasl_password: "secret"${more})`;
  const reading =
    (topic: string) =>
    (folder: string): string =>
      `
event Reading:
    n: int

${connector(', group_id: "cep", session_timeout: 3s')}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Broker, topic: "${topic}")
    .emit(n)
    .to(Out)
`;
  /** All that stands in a topic, read without a group. */
  const written = async (topic: string): Promise<{ readonly value: Delivered; readonly id: string | undefined }[]> => {
    const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic));
    const count = ends.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
    const found: { readonly value: Delivered; readonly id: string | undefined }[] = [];
    if (count === 0) return found;
    const consumer = clientOf(broker.port, 10).consumer({ groupId: `auditor-${Math.random()}`, maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ message: { value, headers } }) => {
        found.push({ value: JSON.parse(String(value)) as Delivered, id: headers?.['id']?.toString() });
      },
    });
    await vi.waitFor(() => expect(found.length).toBeGreaterThanOrEqual(count), { timeout: 60_000, interval: 50 });
    await consumer.disconnect();
    return found;
  };
  const publish = async (
    topic: string,
    values: readonly (string | Buffer | null)[],
    key: string | null = 'one',
    compression = CompressionTypes.None,
  ): Promise<void> => {
    const producer = await producerOf(broker.port);
    await producer.send({ topic, acks: -1, compression, messages: values.map((value) => ({ value, key })) });
    await producer.disconnect();
  };
  const nothing = { lost: [], repeated: [], repeatedIds: [] };

  it('gives every message of all partitions, once, over kills of cep, and commits what was taken', async () => {
    const run = begin(reading('readings'));
    const found = await auditedRun(run, new KafkaPublisher(broker.port, 'readings'), troubleFor({ run, broker }, { kills: 2 }));
    expect(found).toEqual(nothing);
    const [ends, committed] = await withAdmin(async (admin) => [
      await admin.fetchTopicOffsets('readings'),
      await admin.fetchOffsets({ groupId: 'cep', topics: ['readings'] }),
    ]);
    const byPartition = (offsets: readonly { readonly partition: number; readonly offset: string }[]) =>
      Object.fromEntries(offsets.map(({ partition, offset }) => [partition, offset]));
    expect(byPartition(committed[0]?.partitions ?? [])).toEqual(byPartition(ends));
  });

  it('gives every message, once, over kills and a pause of the broker under load, and a cut', async () => {
    const run = begin(reading('restarted'));
    const trouble = troubleFor({ run, broker, link }, { brokerKills: 1, pauseMs: 2_000, cutMs: 500 });
    const found = await auditedRun(run, new KafkaPublisher(broker.port, 'restarted'), trouble);
    expect(found).toEqual(nothing);
  });

  it('writes every output, over kills of the broker and of cep', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
${connector(', retries: 100, compression: "gzip"')}

stream Each = Reading.from(In)
    .emit(n)
    .to(Broker, topic: "outputs")
`,
    );
    const count = 3_000;
    writeFileSync(run.path('in.jsonl'), Array.from({ length: count }, (_, n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const until = (part: number): Promise<void> =>
      vi.waitFor(
        async () => {
          const ends = await withAdmin((admin) => admin.fetchTopicOffsets('outputs'));
          expect(ends.reduce((sum, { high }) => sum + Number(high), 0)).toBeGreaterThanOrEqual(part);
        },
        { timeout: 90_000, interval: 100 },
      );
    await run.startReading();
    await until(count / 4);
    await run.end('SIGKILL');
    await run.startReading();
    await until(count / 2);
    await broker.kill('SIGKILL');
    await sleep(300);
    await broker.startAgain();
    let all: Awaited<ReturnType<typeof written>> = [];
    await vi.waitFor(
      async () => {
        all = await written('outputs');
        expect(new Set(all.map(({ id }) => id)).size).toBeGreaterThanOrEqual(count);
      },
      { timeout: 120_000, interval: 500 },
    );
    expect((await run.end('SIGINT'))?.code).toBe(0);
    const values = all.map(({ value }) => value);
    expect(audit(values, count).lost).toEqual([]);
    // What comes again has the id that it had, which is that of the header.
    expect(new Set(values.map(({ id }) => id)).size).toBe(count);
    expect(all.every(({ id, value }) => id === value.id)).toBe(true);
  });

  it('writes every output once, for readers of what is committed, over kills of cep and a rival with its transactional id', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
${connector(', retries: 100, exactly_once: true, transactional_id: "ours"')}

stream Each = Reading.from(In)
    .emit(n)
    .to(Broker, topic: "committed")
`,
    );
    const log = new NumberedLog(run.path('in.jsonl'), Number.POSITIVE_INFINITY);
    const ends = async (): Promise<number> => {
      // A partition that was made just now has no leader for a while.
      const ask = (): ReturnType<ReturnType<Kafka['admin']>['fetchTopicOffsets']> =>
        withAdmin((admin) => admin.fetchTopicOffsets('committed'));
      const found = await vi.waitFor(ask, { timeout: 60_000, interval: 200 });
      return found.reduce((sum, { high }) => sum + Number(high), 0);
    };
    /** Goes on writing until the topic grows by that. */
    const until = async (more: number): Promise<void> => {
      for (const before = await ends(); (await ends()) < before + more; await sleep(20)) await log.write(20);
    };
    await log.write(50);
    for (let kill = 0; kill < 2; kill++) {
      await run.startReading();
      await until(200);
      await run.end('SIGKILL');
    }
    const rival = clientOf(broker.port, 10).producer({ transactionalId: 'ours', idempotent: true, maxInFlightRequests: 1 });
    await rival.connect();
    await run.startReading();
    await until(100);
    const transaction = await rival.transaction();
    await transaction.send({ topic: 'committed', messages: [{ value: '{"id":"rival","event_type":"Each","data":{"n":0}}' }] });
    await until(100);
    // It was put out by whoever came behind it, with all that it has not committed.
    await expect(transaction.commit()).rejects.toThrow();
    await rival.disconnect();
    await vi.waitFor(async () => expect(await committedIn(clientOf(broker.port, 10), 'committed', 3)).toHaveLength(log.written), {
      timeout: 90_000,
      interval: 500,
    });
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(audit(await committedIn(clientOf(broker.port, 10), 'committed', 3), log.written)).toEqual(nothing);
    expect(run.letters()).toEqual([]);
  });

  const windowMs = 10_000;
  /** Counts events in windows of ten seconds, by when each began. */
  const counting =
    (topic: string, idle: string) =>
    (folder: string): string =>
      `
event Reading:
    at: timestamp

${connector(`, group_id: "${topic}", session_timeout: 3s`)}
connector Out = file (path: "${folder}/out.jsonl")

stream Counted = Reading.from(Broker, topic: "${topic}")
    .watermark(idle: ${idle})
    .window(10s)
    .aggregate(count: count())
    .emit(n: window_start, count)
    .to(Out)
`;
  /** So many events in each of these windows, all in one partition. */
  const fill = async (topic: string, partition: number, windows: { from: number; to: number; each: number }): Promise<void> => {
    const { from, to, each } = windows;
    const producer = await producerOf(broker.port);
    for (let window = from; window < to; window++) {
      const at = (n: number): number => 1_700_000_000_000 + window * windowMs + Math.floor((n * windowMs) / each);
      const messages = Array.from({ length: each }, (_, n) => ({ partition, value: `{"event_type":"Reading","at":${at(n)}}` }));
      await producer.send({ topic, acks: -1, messages });
    }
    await producer.disconnect();
  };
  /** By window, what was counted each time that it was said. */
  const counts = (run: ProgramRun): Record<number, unknown[]> => {
    const found: Record<number, unknown[]> = {};
    for (const { data } of run.delivered('out.jsonl')) {
      const window = (Number(data['n']) - 1_700_000_000_000) / windowMs;
      found[window] = [...new Set([...(found[window] ?? []), data['count']])];
    }
    return found;
  };
  const allOf = (length: number, count: number): Record<number, unknown[]> =>
    Object.fromEntries(Array.from({ length }, (_, at) => [at, [count]]));

  it('counts what had waited in two partitions in the windows that it belongs to, over kills of cep', async () => {
    const [windows, each] = [60, 200];
    const run = begin(counting('timed', '30s'));
    await fill('timed', 0, { from: 0, to: windows, each });
    await fill('timed', 1, { from: 0, to: windows / 2, each });
    await run.startReading();
    await run.untilDelivered('out.jsonl', 1);
    await run.end('SIGKILL');
    await run.startReading();
    // The second partition has come to the middle, and the first waits for it.
    await run.untilDelivered('out.jsonl', windows / 2 - 1);
    await run.end('SIGKILL');
    expect(counts(run)).toEqual(allOf(windows / 2 - 1, 2 * each));
    await fill('timed', 1, { from: windows / 2, to: windows, each });
    await run.startReading();
    await run.untilDelivered('out.jsonl', windows - 1);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(counts(run)).toEqual(allOf(windows - 1, 2 * each));
  });

  it('waits no longer for a partition that has gone quiet than a source may be idle', async () => {
    const [windows, each] = [60, 20];
    const run = begin(counting('sided', '10s'));
    await fill('sided', 0, { from: 0, to: windows, each });
    await fill('sided', 1, { from: 0, to: 1, each });
    await run.startReading();
    // With the clock on the wall these windows would be over in ten minutes.
    await run.untilDelivered('out.jsonl', windows - 1);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(counts(run)).toMatchObject({ ...allOf(windows - 1, each), 0: [2 * each] });
  });

  it('has taken the mark behind the last transaction with its messages: nothing more is on its way', async () => {
    const run = begin(reading('marked'));
    const producer = clientOf(broker.port, 10).producer({ transactionalId: 'marks', idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic: 'marked', messages: [{ partition: 1, value: '{"event_type":"Reading","n":1}' }] });
    await transaction.commit();
    await producer.disconnect();
    await run.startReading();
    await run.untilDelivered('out.jsonl', 1);
    const committed = async (): Promise<string | undefined> => {
      const [found] = await withAdmin((admin) => admin.fetchOffsets({ groupId: 'cep', topics: ['marked'] }));
      return found?.partitions.find(({ partition }) => partition === 1)?.offset;
    };
    await vi.waitFor(async () => expect(await committed()).toBe('2'), { timeout: 30_000, interval: 500 });
    expect((await run.end('SIGINT'))?.code).toBe(0);
  });

  it('makes alerts in one topic of events in two others, which share a group; what is no event is a dead letter with its bytes', async () => {
    const run = begin(
      () => `
event Reading:
    n: int
event Order:
    n: int

${connector(', group_id: "both"')}

stream Large = Reading.from(Broker, topic: "mixed")
    .where(n > 10)
    .emit(n)
    .to(Broker, topic: "alerts")
stream Orders = Order.from(Broker, topic: "orders")
    .emit(n)
    .to(Broker, topic: "alerts")
`,
    );
    await publish('mixed', ['{"n":11}', Buffer.from([0xff, 0xfe]), null]);
    // A few bytes for the broker, and more than this process has memory for.
    await publish('mixed', [Buffer.alloc(70 * 1_048_576)], 'one', CompressionTypes.GZIP);
    await publish('mixed', ['{"n":1}', '{"event_type":"Reading","data":{"n":12}}']);
    await publish('orders', ['{"n":3}']);
    await run.startReading();
    await vi.waitFor(async () => expect((await written('alerts')).map(({ value }) => value.data['n']).sort()).toEqual([11, 12, 3]), {
      timeout: 90_000,
      interval: 500,
    });
    const ended = await run.end('SIGINT');
    expect(ended?.code).toBe(0);
    expect(ended?.stderr).toMatch(/found bytes that are no UTF-8 text/);
    expect(ended?.stderr).toMatch(/found a message without a value/);
    expect(ended?.stderr).toMatch(/found a batch of 1 messages in gzip: it unpacks to more than 67108864 bytes/);
  });

  it('shares the partitions with others of its group, and takes over those of one that dies', async () => {
    const members = [begin(reading('shared')), begin(reading('shared'))] as const;
    const values = (from: number, count: number): string[] =>
      Array.from({ length: count }, (_, at) => `{"event_type":"Reading","n":${from + at}}`);
    const numbers = (member: ProgramRun): unknown[] => member.delivered('out.jsonl').map(({ data }) => data['n']);
    const spread = async (from: number): Promise<void> => {
      for (const value of values(from, 30)) await publish('shared', [value], null);
    };
    const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 50 });
    for (const member of members) await member.startReading();
    let published = 0;
    // Until the second one is there the first has all partitions.
    await vi.waitFor(
      async () => {
        await spread(published);
        published += 30;
        for (const member of members) expect(numbers(member).length).toBeGreaterThan(0);
      },
      { timeout: 60_000, interval: 500 },
    );
    const all = (): Promise<void> => until(() => expect(new Set(members.flatMap(numbers)).size).toBe(published));
    const killFirst = async (): Promise<void> => {
      await members[0].end('SIGKILL');
      await spread(published);
      published += 30;
    };
    // What it had taken, and not yet written, it writes when it comes back.
    await killFirst();
    await members[0].startReading();
    await all();
    await killFirst();
    await all();
    expect((await members[1].end('SIGINT'))?.code).toBe(0);
  });

  it('makes no topic: outputs for one that is missing become dead letters that say so', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
${connector(', retries: 0')}

stream Each = Reading.from(In)
    .emit(n)
    .to(Broker, topic: "absent")
`,
    );
    writeFileSync(run.path('in.jsonl'), '{"event_type":"Reading","n":1}\n');
    await run.start().until(({ stderr }) => stderr.includes("the cluster has no topic 'absent'"));
    expect((await run.end('SIGINT'))?.stderr).toContain('unknown_topic');
    expect(await withAdmin((admin) => admin.listTopics())).not.toContain('absent');
  });

  it('begins at the end of a topic where it is told to, and goes on from there', async () => {
    const run = begin((folder) => reading('orders')(folder).replace('group_id: "cep"', 'group_id: "late", start: "latest"'));
    await publish('orders', ['{"event_type":"Reading","n":100}']);
    await run.startReading();
    await run.end('SIGKILL');
    // Nobody reads meanwhile.
    await publish('orders', ['{"event_type":"Reading","n":101}']);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 1);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(run.delivered('out.jsonl').map(({ data }) => data['n'])).toEqual([101]);
  });

  it('says at the start that the cluster cannot be reached, refuses the login, or has no such topic', async () => {
    const failing = async (program: (folder: string) => string): Promise<string> => {
      const ended = await begin(program).start().ended;
      expect(ended.code).toBe(4);
      return ended.stderr.split('\n').find((line) => line.startsWith('error: ')) ?? ended.stderr;
    };
    const program = reading('readings');
    const [unreachable, refused, missing] = await Promise.all([
      failing((folder) => program(folder).replace(`127.0.0.1:${broker.port}`, '127.0.0.1:1')),
      failing((folder) => program(folder).replace('"secret"', '"wrong"')),
      failing(reading('missing')),
    ]);
    expect(unreachable).toMatch(/connect ECONNREFUSED 127\.0\.0\.1:1/);
    expect(refused).toMatch(/Invalid username or password/);
    expect(missing).toMatch(/the cluster has no topic 'missing'/);
    expect(await withAdmin((admin) => admin.listTopics())).not.toContain('missing');
  });

  it('learns the offsets of a group when no transaction is about to change them', async () => {
    const producer = clientOf(broker.port, 10).producer({ transactionalId: 'ledger', maxInFlightRequests: 1, idempotent: true });
    await producer.connect();
    const write = async (offset: string): Promise<Transaction> => {
      const transaction = await producer.transaction();
      const topics = [{ topic: 'orders', partitions: [{ partition: 0, offset }] }];
      await transaction.sendOffsets({ consumerGroupId: 'ledger', topics });
      return transaction;
    };
    await withAdmin(async (admin) => {
      const offset = async (): Promise<string | undefined> =>
        (await stableOffsets(admin, 'ledger', ['orders']))[0]?.partitions.find(({ partition }) => partition === 0)?.offset;
      expect(await offset()).toBe('-1');
      for (let number = 1; number <= 5; number++) {
        const transaction = await write(`${number}`);
        let isKnown = false;
        const learned = offset().finally(() => {
          isKnown = true;
        });
        // An answer to a question that was asked later: that of the first would have been here.
        await admin.fetchTopicOffsets('orders');
        expect(isKnown).toBe(false);
        await transaction.commit();
        expect(await learned).toBe(`${number}`);
      }
      const given = await write('77');
      await given.abort();
      expect(await offset()).toBe('5');
    });
    await producer.disconnect();
  });

  it('reaches no broker that the cluster names at an address which the owner of the program may not reach', async () => {
    // The cluster is asked at one address of this machine, and names its broker at another.
    const environment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.publicAnd(['127.0.0.2/32'])) };
    const settings = settingsOf('Broker', 'kafka', [
      ['brokers', `127.0.0.2:${broker.port}`],
      ['sasl_username', 'cep'],
      ['sasl_password', 'secret'],
    ]);
    const sink = openSink(settings, environment);
    const refused = expect.objectContaining({ code: 'forbidden_address', isPermanent: true });
    await expect(sink.send({ id: '1', topic: 'alerts', payload: '{}' })).rejects.toEqual(refused);
    await sink.close();
    const source = openSource({ ...settings, subscription: 's', topic: 'readings', textFields: [] }, environment);
    const reason = await new Promise<string>((resolve, reject) => {
      const unexpected = (): void => reject(new Error('it was reached'));
      const take = async (): Promise<boolean> => false;
      source.start({ position: null, take, connected: unexpected, ended: unexpected, disconnected: resolve });
    });
    await source.close();
    expect(reason).toMatch(/operator has named/);
  });
});
