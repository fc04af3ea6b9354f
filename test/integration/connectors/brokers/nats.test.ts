import { appendFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RetentionPolicy, StreamAPI } from 'nats';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { audit, type Delivered } from '../audit.ts';
import { auditedRun } from './audited-run.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { Link } from './link.ts';
import { clientOf, StreamPublisher, startNats } from './nats-publisher.ts';
import { ProgramRun } from './program-run.ts';
import { delivered, sinkTo } from './tried-sink.ts';
import { shortTrouble, troubleFor } from './trouble.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 90_000 });

describe.skipIf(!(await hasBroker('nats')))('nats', () => {
  let broker: RunningBroker;
  let link: Link;
  const runs: ProgramRun[] = [];
  beforeAll(async () => {
    broker = await startNats(['readings', 'shared', 'alerts', 'poison', 'late', 'short', 'brief', 'kept', 'former']);
    link = await Link.to(broker.port);
  });
  afterAll(async () => {
    for (const run of runs) await run.remove();
    await link?.close();
    await broker?.stop();
  });

  const begin = (program: (folder: string) => string): ProgramRun => {
    const run = new ProgramRun(program);
    runs.push(run);
    return run;
  };
  const servers = (login = 'cep:secret'): string => `servers: "nats://${login}@127.0.0.1:${link.port}"`;
  const reading =
    (connector: string, use: string) =>
    (folder: string): string =>
      `
event Reading:
    n: int

connector Bus = nats (${connector})
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Bus, ${use})
    .emit(n)
    .to(Out)
`;
  const nothing = { lost: [], repeated: [], repeatedIds: [] };

  it('gives every message of a stream, once, over kills of the server and of cep, a pause, and a cut', async () => {
    const run = begin(reading(`${servers()}, jetstream: true`, 'topic: "readings.>"'));
    expect(await auditedRun(run, new StreamPublisher(broker.port, 'readings.a'), troubleFor({ run, broker, link }, shortTrouble))).toEqual(
      nothing,
    );
  });

  it('gives every message, once, to a durable consumer, and leaves nothing that is not acknowledged', async () => {
    const run = begin(reading(servers(), 'subject: "shared.>", durable: "cep"'));
    // Each time the server has to give again what it has not heard of, which takes it five seconds.
    const trouble = troubleFor({ run, broker, link }, { kills: 1, brokerKills: 1 });
    expect(await auditedRun(run, new StreamPublisher(broker.port, 'shared.a'), trouble)).toEqual(nothing);
    const client = await clientOf(broker.port);
    const { consumers } = await client.jetstreamManager();
    const { num_ack_pending: pending, num_pending: unread } = await consumers.info('shared', 'cep');
    await client.close();
    expect({ pending, unread }).toEqual({ pending: 0, unread: 0 });
  });

  const publishTo = async (subject: string, numbers: readonly number[]): Promise<void> => {
    const client = await clientOf(broker.port);
    for (const n of numbers) await client.jetstream().publish(subject, JSON.stringify({ event_type: 'Reading', n }));
    await client.close();
  };
  const withStreams = async <T>(ask: (streams: StreamAPI) => Promise<T>): Promise<T> => {
    const client = await clientOf(broker.port);
    try {
      return await ask((await client.jetstreamManager()).streams);
    } finally {
      await client.close();
    }
  };
  const numbersOf = (run: ProgramRun): unknown[] => run.delivered('out.jsonl').map(({ data }) => data['n']);

  it('begins at the end of a stream where it is told to, and goes on from there, also in one that was made anew', async () => {
    const run = begin(reading(`${servers()}, jetstream: true, start: "latest"`, 'topic: "late.>"'));
    await publishTo('late.a', [100]);
    await run.startReading();
    await run.end('SIGKILL');
    // Nobody reads meanwhile.
    await publishTo('late.a', [101]);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 1);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await withStreams(async (streams) => {
      await streams.delete('late');
      await streams.add({ name: 'late', subjects: ['late.>'] });
    });
    await publishTo('late.a', [102, 103]);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 3);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual([101, 102, 103]);
  });

  it.each([
    ['short', 'jetstream: true'],
    ['brief', 'durable: "cep"'],
  ])('says with a dead letter what a stream has deleted before it was read (%s, %s)', async (stream, how) => {
    const run = begin(reading(`${servers()}, ${how}`, `topic: "${stream}.>"`));
    await publishTo(`${stream}.a`, [1, 2, 3]);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 3);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await publishTo(`${stream}.a`, [4, 5, 6]);
    await withStreams((streams) => streams.purge(stream, { seq: 6 }));
    for (const count of [4, 5]) {
      await run.startReading();
      await run.untilDelivered('out.jsonl', count);
      expect((await run.end('SIGINT'))?.code).toBe(0);
      await publishTo(`${stream}.a`, [count + 3]);
    }
    expect(numbersOf(run)).toEqual([1, 2, 3, 6, 7]);
    const error = expect.stringContaining(`messages 4 to 5 of the stream '${stream}' were deleted before they were read`);
    expect(run.letters()).toEqual([expect.objectContaining({ connector: 'Bus', code: 'unreadable_message', error })]);
  });

  it('goes on where it was when its durable consumer was deleted, wherever readers begin', async () => {
    const run = begin(reading(`${servers()}, start: "latest"`, 'subject: "kept.>", durable: "cep"'));
    await publishTo('kept.a', [0]);
    await run.startReading();
    await publishTo('kept.a', [1, 2]);
    await run.untilDelivered('out.jsonl', 2);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    const client = await clientOf(broker.port);
    await (await client.jetstreamManager()).consumers.delete('kept', 'cep');
    await client.close();
    await publishTo('kept.a', [3]);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 3);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual([1, 2, 3]);
  });

  it('goes on where it was when its durable consumer of a work queue was deleted', async () => {
    await withStreams((streams) => streams.add({ name: 'work', subjects: ['work.>'], retention: 'workqueue' as RetentionPolicy }));
    const run = begin(reading(servers(), 'subject: "work.>", durable: "cep"'));
    await publishTo('work.a', [0, 1]);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 2);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    const client = await clientOf(broker.port);
    await (await client.jetstreamManager()).consumers.delete('work', 'cep');
    await client.close();
    await publishTo('work.a', [2]);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 3);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual([0, 1, 2]);
  });

  it('begins at the end, where it is told to, of another stream than the one that it read before', async () => {
    const from = (stream: string) => reading(`${servers()}, stream: "${stream}", start: "latest"`, 'topic: "former.>"');
    const run = begin(from('former'));
    await publishTo('former.a', [0]);
    await run.startReading();
    await publishTo('former.a', [1, 2]);
    await run.untilDelivered('out.jsonl', 2);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await withStreams(async (streams) => {
      await streams.add({ name: 'copy', mirror: { name: 'former' } });
      await vi.waitFor(async () => expect((await streams.info('copy')).state.last_seq).toBe(3), { timeout: 30_000, interval: 50 });
    });
    writeFileSync(run.path('rules.vpl'), from('copy')(run.folder));
    await run.startReading();
    await publishTo('former.a', [3]);
    await run.untilDelivered('out.jsonl', 3);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(numbersOf(run)).toEqual([1, 2, 3]);
  });

  it('adds every output to a stream, over kills of the server and of cep', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Bus = nats (${servers()}, jetstream: true, retries: 100)

stream Each = Reading.from(In)
    .emit(n)
    .to(Bus, topic: "alerts.each")
`,
    );
    const count = 3_000;
    writeFileSync(run.path('in.jsonl'), Array.from({ length: count }, (_, n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const kept = async (): Promise<number> => {
      const client = await clientOf(broker.port).catch(() => undefined);
      const info = await client?.jetstreamManager().then(({ streams }) => streams.info('alerts'));
      await client?.close();
      return info?.state.messages ?? 0;
    };
    const until = (part: number): Promise<void> =>
      vi.waitFor(async () => expect(await kept()).toBeGreaterThanOrEqual(part), { timeout: 60_000, interval: 50 });
    await run.startReading();
    await until(count / 4);
    await run.end('SIGKILL');
    await run.startReading();
    await until(count / 2);
    await broker.kill('SIGKILL');
    await sleep(300);
    await broker.startAgain();
    await until(count);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    const client = await clientOf(broker.port);
    const { streams } = await client.jetstreamManager();
    const { messages } = (await streams.info('alerts')).state;
    const all: Delivered[] = [];
    for (let seq = 1; seq <= messages; seq++) all.push((await streams.getMessage('alerts', { seq })).json<Delivered>());
    await client.close();
    // What is sent again within the window of the stream has the id that it had, and is dropped.
    expect(audit(all, count)).toEqual(nothing);
  });

  it('listens to a subject, also after the server was away', async () => {
    const run = begin(reading(servers(), 'topic: "news.*"'));
    await run.startReading();
    const say = async (n: number): Promise<void> => {
      const client = await clientOf(broker.port).catch(() => undefined);
      client?.publish('news.today', JSON.stringify({ event_type: 'Reading', n }));
      await client?.flush();
      await client?.close();
    };
    const heard = (n: number): Promise<void> =>
      vi.waitFor(
        async () => {
          await say(n);
          expect(run.delivered('out.jsonl').some(({ data }) => data['n'] === n)).toBe(true);
        },
        { timeout: 30_000, interval: 200 },
      );
    await heard(1);
    await broker.kill('SIGKILL');
    await broker.startAgain();
    await heard(2);
    expect((await run.end('SIGINT'))?.code).toBe(0);
  });

  it('sends to whoever listens to a subject at that moment, and keeps nothing for others', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Bus = nats (${servers()})

stream Each = Reading.from(In)
    .emit(n)
    .to(Bus, topic: "first")
    .to(Bus, topic: "second")
`,
    );
    const client = await clientOf(broker.port);
    const listen = async (subject: string): Promise<number[]> => {
      const heard: number[] = [];
      client.subscribe(subject, { callback: (_error, message) => heard.push(message.json<Delivered>().data['n'] ?? -1) });
      await client.flush();
      return heard;
    };
    const say = (n: number): void => appendFileSync(run.path('in.jsonl'), `{"event_type":"Reading","n":${n}}\n`);
    const second = await listen('second');
    say(0);
    await run.startReading();
    await vi.waitFor(() => expect(second).toEqual([0]), { timeout: 60_000 });
    // What is sent to both subjects comes to the first one first, where nobody has listened yet.
    const first = await listen('first');
    say(1);
    await vi.waitFor(() => expect(second).toEqual([0, 1]), { timeout: 60_000 });
    expect(first).toEqual([1]);
    await client.close();
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(run.letters()).toEqual([]);
  });

  it('sends every output to whoever listens to a subject, over a kill of cep', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Bus = nats (${servers()})

stream Each = Reading.from(In)
    .emit(n)
    .to(Bus, topic: "heard")
`,
    );
    const count = 20_000;
    writeFileSync(run.path('in.jsonl'), Array.from({ length: count }, (_, n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const client = await clientOf(broker.port);
    const heard: Delivered[] = [];
    client.subscribe('heard', { callback: (_error, message) => heard.push(message.json<Delivered>()) });
    await client.flush();
    const ids = (): Set<string> => new Set(heard.map(({ id }) => id));
    await run.startReading();
    await vi.waitFor(() => expect(heard.length).toBeGreaterThan(count / 10), { timeout: 60_000, interval: 5 });
    await run.end('SIGKILL');
    await run.startReading();
    await vi.waitFor(() => expect(ids().size).toBeGreaterThanOrEqual(count), { timeout: 60_000, interval: 50 });
    await client.close();
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(audit(heard, count).lost).toEqual([]);
    // What comes again has the id that it had.
    expect(ids().size).toBe(count);
  });

  it('sends batches to subjects as they were given, but what is too large for the server', async () => {
    const client = await clientOf(broker.port);
    const heard: unknown[] = [];
    client.subscribe('batch.*', {
      callback: (_error, message) => heard.push([message.subject, message.headers?.get('Nats-Msg-Id'), message.json<Delivered>().data]),
    });
    await client.flush();
    const { sinks, send } = sinkTo('nats', [['servers', `nats://cep:secret@127.0.0.1:${broker.port}`]]);
    // The first goes alone, the others as a batch behind it.
    const texts = ['first', 'zwölf ≤ 🦉', 'x'.repeat(2 * 1_048_576), 'line\r\nbreak', 'last'];
    for (const [n, text] of texts.entries()) send(n, { topic: `batch.${n}`, fieldsJson: JSON.stringify({ text }) });
    await vi.waitFor(() => expect(sinks.pending).toBe(0), { timeout: 30_000 });
    await client.flush();
    expect(heard).toEqual(texts.flatMap((text, n) => (n === 2 ? [] : [[`batch.${n}`, `${n}`, { text }]])));
    expect([delivered(sinks), sinks.dlqEvents]).toEqual([4, 1]);
    await sinks.close();
    await client.close();
  });

  it('keeps what goes to a subject that the user may not publish to as dead letters, and sends all else once', async () => {
    const client = await clientOf(broker.port);
    const heard: unknown[] = [];
    client.subscribe('open.*', { callback: (_error, message) => heard.push(message.headers?.get('Nats-Msg-Id')) });
    await client.flush();
    const { sinks, send, letters } = sinkTo('nats', [['servers', `nats://guest:guest@127.0.0.1:${broker.port}`]]);
    const count = 1_000;
    const isForbidden = (n: number): boolean => n % 100 === 7;
    const numbers = Array.from({ length: count }, (_, n) => n);
    for (const n of numbers) send(n, { topic: isForbidden(n) ? `secret.${n}` : `open.${n}` });
    await sinks.idle(60_000);
    // A batch of one, too.
    send(count, { topic: 'secret.last' });
    await sinks.idle(60_000);
    send(count + 1, { topic: 'open.last' });
    await sinks.idle(60_000);
    await client.flush();
    const forbidden = [...numbers.filter(isForbidden), count];
    expect(heard).toEqual([...numbers.filter((n) => !isForbidden(n)), count + 1].map(String));
    expect((await letters()).map(({ id, code }) => [id, code]).sort()).toEqual(forbidden.map((n) => [`${n}`, 'forbidden']).sort());
    await sinks.close();
    await client.close();
  });

  it('keeps what is no event as dead letters, with its bytes, and goes on', async () => {
    const client = await clientOf(broker.port);
    const publish = (data: Uint8Array | string): Promise<unknown> => client.jetstream().publish('poison.a', data);
    await publish(Buffer.of(0xff, 0xfe));
    await publish('{"event_type":"Reading","n":"text"}');
    await publish('{"event_type":"Reading","n":7}');
    await client.close();
    const run = begin(reading(servers(), 'subject: "poison.>", durable: "cep"'));
    await run.startReading();
    await vi.waitFor(() => expect(run.delivered('out.jsonl').map(({ data }) => data['n'])).toEqual([7]), { timeout: 20_000 });
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(run.letters()).toMatchObject([
      { connector: 'Bus', code: 'unreadable_message', event: { data: { raw_base64: Buffer.of(0xff, 0xfe).toString('base64') } } },
      { connector: 'Bus', code: 'invalid_event', event: { data: { raw: '{"event_type":"Reading","n":"text"}' } } },
    ]);
  });

  it('shares the messages of a subject among the members of a queue group', async () => {
    const members = [
      begin(reading(servers(), 'topic: "work", queue_group: "cep"')),
      begin(reading(servers(), 'topic: "work", queue_group: "cep"')),
    ];
    for (const member of members) await member.startReading();
    const client = await clientOf(broker.port);
    for (let n = 0; n < 200; n++) client.publish('work', JSON.stringify({ event_type: 'Reading', n }));
    await client.flush();
    await client.close();
    const all = (): Delivered[] => members.flatMap((member) => member.delivered('out.jsonl'));
    await vi.waitFor(() => expect(all()).toHaveLength(200), { timeout: 20_000, interval: 50 });
    expect(audit(all(), 200).lost).toEqual([]);
    for (const member of members) expect(member.delivered('out.jsonl').length).toBeGreaterThan(0);
  });

  it('says at the start that the server cannot be reached, refuses the login, or has no such stream', async () => {
    const failing = async (connector: string, use: string): Promise<string> => {
      const ended = await begin(reading(connector, use)).start().ended;
      expect(ended.code).toBe(4);
      return ended.stderr.split('\n').find((line) => line.startsWith('error: ')) ?? ended.stderr;
    };
    const [unreachable, refused, streamless, unknown, forbidden] = await Promise.all([
      failing('servers: "nats://127.0.0.1:1"', 'topic: "a"'),
      failing(servers('cep:wrong-secret'), 'topic: "a"'),
      failing(`${servers()}, jetstream: true`, 'topic: "nowhere.a"'),
      failing(servers(), 'topic: "nowhere.a", stream: "nowhere"'),
      failing(servers('guest:guest'), 'topic: "secret.a"'),
    ]);
    expect(unreachable).toMatch(/connect ECONNREFUSED 127\.0\.0\.1:1/);
    expect(refused).toMatch(/refuses the login/);
    expect(refused).not.toContain('wrong-secret');
    expect(streamless).toMatch(/no stream of the server has the subject 'nowhere\.a'/);
    expect(unknown).toMatch(/no stream 'nowhere'/);
    expect(forbidden).toMatch(/refuses the subscription of 'secret\.a'/);
  });
});
