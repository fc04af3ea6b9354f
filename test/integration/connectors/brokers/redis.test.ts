import { appendFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { audit, type Delivered } from '../audit.ts';
import { auditedRun } from './audited-run.ts';
import { hasBroker, type RunningBroker } from './containers.ts';
import { Link } from './link.ts';
import { ProgramRun } from './program-run.ts';
import { clientOf, RedisPublisher, startRedis } from './redis-publisher.ts';
import { delivered, sinkTo } from './tried-sink.ts';
import { shortTrouble, troubleFor } from './trouble.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 90_000 });

describe.skipIf(!(await hasBroker('redis')))('redis', () => {
  let broker: RunningBroker;
  let link: Link;
  const runs: ProgramRun[] = [];
  beforeAll(async () => {
    broker = await startRedis();
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
  const url = (): string => `url: "redis://:secret@127.0.0.1:${link.port}"`;
  const reading =
    (connector: string, topic: string) =>
    (folder: string): string =>
      `
event Reading:
    n: int

connector Store = ${connector}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Store, topic: "${topic}")
    .emit(n)
    .to(Out)
`;
  const nothing = { lost: [], repeated: [], repeatedIds: [] };

  it('gives every entry of a stream, once, over kills of the server and of cep, a pause, and a cut', async () => {
    const run = begin(reading(`redis_stream (${url()})`, 'readings'));
    expect(await auditedRun(run, new RedisPublisher(broker.port, 'readings'), troubleFor({ run, broker, link }, shortTrouble))).toEqual(
      nothing,
    );
  });

  it('gives every entry, once, to a group, and leaves nothing that is not acknowledged', async () => {
    const run = begin(reading(`redis (${url()}, group: "cep")`, 'shared'));
    expect(await auditedRun(run, new RedisPublisher(broker.port, 'shared'), troubleFor({ run, broker, link }, shortTrouble))).toEqual(
      nothing,
    );
    const client = clientOf(broker.port);
    const [pending] = (await client.xpending('shared', 'cep')) as [number];
    client.disconnect();
    expect(pending).toBe(0);
  });

  it.each([
    ['trimmed', ''],
    ['trimmed for a group', ', group: "cep"'],
  ])('says with a dead letter how many entries of a stream were %s before they were read', async (stream, more) => {
    const run = begin(reading(`redis_stream (${url()}${more})`, stream));
    const client = clientOf(broker.port);
    const add = async (numbers: readonly number[]): Promise<void> => {
      for (const n of numbers) await client.xadd(stream, '*', 'event_type', 'Reading', 'n', n);
    };
    await add([1, 2, 3]);
    // Those before the first one that is read are nobody's.
    await client.xtrim(stream, 'MAXLEN', 2);
    await run.startReading();
    await run.untilDelivered('out.jsonl', 2);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    await add([4, 5, 6, 7]);
    await client.xtrim(stream, 'MAXLEN', 2);
    for (const count of [4, 5]) {
      await run.startReading();
      await run.untilDelivered('out.jsonl', count);
      expect((await run.end('SIGINT'))?.code).toBe(0);
      await add([count + 4]);
    }
    // The second time there is nothing that was not read when it begins.
    for (const more of [10, 11]) {
      await run.startReading();
      await vi.waitFor(async () => expect(await client.client('LIST')).toMatch(/cmd=xread/), { timeout: 30_000, interval: 20 });
      await add([more]);
      await run.untilDelivered('out.jsonl', more - 3);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    }
    client.disconnect();
    expect(run.delivered('out.jsonl').map(({ data }) => data['n'])).toEqual([2, 3, 6, 7, 8, 9, 10, 11]);
    const error = expect.stringContaining(`2 entries of the stream '${stream}' were deleted or trimmed before they were read`);
    expect(run.letters()).toEqual([expect.objectContaining({ connector: 'Store', code: 'unreadable_message', error })]);
  });

  it('adds every output to a stream, over kills of the server and of cep', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Store = redis_stream (${url()}, retries: 100)

stream Each = Reading.from(In)
    .emit(n)
    .to(Store, topic: "alerts")
`,
    );
    const count = 3_000;
    writeFileSync(run.path('in.jsonl'), Array.from({ length: count }, (_, n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const added = async (): Promise<Delivered[]> => {
      const client = clientOf(broker.port);
      const entries = await client.xrange('alerts', '-', '+').catch(() => []);
      client.disconnect();
      return entries.map(([, fields]) => JSON.parse(fields[fields.indexOf('payload') + 1] ?? '') as Delivered);
    };
    const until = (part: number): Promise<void> =>
      vi.waitFor(async () => expect(new Set((await added()).map(({ id }) => id)).size).toBeGreaterThanOrEqual(part), {
        timeout: 60_000,
        interval: 50,
      });
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
    const all = await added();
    expect(audit(all, count).lost).toEqual([]);
    // What comes again has the id that it had.
    expect(new Set(all.map(({ id }) => id)).size).toBe(count);
  });

  it('adds what it is sent to the streams that are named, whatever letters are in it, and keeps about as many as it is told', async () => {
    const client = clientOf(broker.port);
    await client.set('no stream', 'text');
    const { sinks, send, letters } = sinkTo('redis_stream', [
      ['url', `redis://:secret@127.0.0.1:${link.port}`],
      ['stream', 'först'],
      ['max_len', 100],
    ]);
    const fieldsJson = (n: number): string => JSON.stringify({ n, text: 'zwölf\r\n$3\r\n日本 💥' });
    const count = 3_000;
    const topics = [null, 'zweiter', 'no stream'];
    for (let n = 0; n < count; n++) send(n, { topic: topics[n % 3] ?? null, fieldsJson: fieldsJson(n) });
    await sinks.idle(60_000);
    const last = async (stream: string): Promise<unknown> => {
      const [, fields] = (await client.xrevrange(stream, '+', '-', 'COUNT', 1))[0] ?? [];
      return [fields?.slice(0, 3), JSON.parse(fields?.[3] ?? '').data];
    };
    expect(await last('först')).toEqual([['id', '2997', 'payload'], JSON.parse(fieldsJson(2_997))]);
    expect(await last('zweiter')).toEqual([['id', '2998', 'payload'], JSON.parse(fieldsJson(2_998))]);
    expect(await client.xlen('först')).toBeLessThan(count / 6);
    expect([delivered(sinks), sinks.dlqEvents]).toEqual([(count / 3) * 2, count / 3]);
    expect((await letters())[0]?.error).toMatch(/WRONGTYPE/);
    await sinks.close();
    client.disconnect();
  });

  it('keeps what is no event as dead letters, with its bytes, and goes on', async () => {
    const client = clientOf(broker.port);
    await client.xadd('poison', '*', 'payload', Buffer.from('{"event_type":"Reading","n":\xff}', 'latin1'));
    await client.xadd('poison', '*', 'n', Buffer.of(0xff));
    await client.xadd('poison', '*', 'payload', `{"event_type":"Reading","n":"${'x'.repeat(2 * 1_048_576)}"}`);
    await client.xadd('poison', '*', 'id', 'a', 'data', '[1]');
    await client.xadd('poison', '*', 'message', 'hello');
    await client.xadd('poison', '*', 'n', '7');
    client.disconnect();
    const run = begin(reading(`redis_stream (${url()})`, 'poison'));
    await run.startReading();
    await vi.waitFor(() => expect(run.delivered('out.jsonl').map(({ data }) => data['n'])).toEqual([7]), { timeout: 30_000, interval: 50 });
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(run.letters().map(({ error }) => error)).toEqual([
      'found bytes that are no UTF-8 text, expected a JSON object',
      'found a field that is no UTF-8 text, expected texts',
      expect.stringMatching(/^found a message of 2097\d+ bytes, expected at most 1048576$/),
      'expected a JSON object, found another value',
      expect.stringMatching(/^expected a JSON object: /),
    ]);
  });

  it('listens to a channel, also after the server was away', async () => {
    const run = begin(reading(`redis (${url()})`, 'news'));
    await run.startReading();
    const say = async (n: number): Promise<void> => {
      const client = clientOf(broker.port);
      await client.publish('news', JSON.stringify({ event_type: 'Reading', n })).catch(() => 0);
      client.disconnect();
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

  it('sends to whoever listens to a channel at that moment, and keeps nothing for others', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Store = redis (${url()})

stream Each = Reading.from(In)
    .emit(n)
    .to(Store, topic: "first")
    .to(Store, topic: "second")
`,
    );
    const client = clientOf(broker.port);
    const heard: string[] = [];
    client.on('message', (channel, text) => heard.push(`${channel} ${(JSON.parse(text) as Delivered).data['n']}`));
    const say = (n: number): void => appendFileSync(run.path('in.jsonl'), `{"event_type":"Reading","n":${n}}\n`);
    await client.subscribe('second');
    say(0);
    await run.startReading();
    await vi.waitFor(() => expect(heard).toEqual(['second 0']), { timeout: 60_000 });
    // What is sent to both channels comes to the first one first, where nobody has listened yet.
    await client.subscribe('first');
    say(1);
    await vi.waitFor(() => expect(heard).toEqual(['second 0', 'first 1', 'second 1']), { timeout: 60_000 });
    client.disconnect();
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(run.letters()).toEqual([]);
  });

  it('sends every output to whoever listens to a channel, over a kill of cep', async () => {
    const run = begin(
      (folder) => `
event Reading:
    n: int

connector In = file (path: "${folder}/in.jsonl")
connector Store = redis (${url()})

stream Each = Reading.from(In)
    .emit(n)
    .to(Store, topic: "heard")
`,
    );
    const count = 20_000;
    writeFileSync(run.path('in.jsonl'), Array.from({ length: count }, (_, n) => `{"event_type":"Reading","n":${n}}\n`).join(''));
    const client = clientOf(broker.port);
    const heard: Delivered[] = [];
    client.on('message', (_channel, text) => heard.push(JSON.parse(text) as Delivered));
    await client.subscribe('heard');
    const ids = (): Set<string> => new Set(heard.map(({ id }) => id));
    await run.startReading();
    await vi.waitFor(() => expect(heard.length).toBeGreaterThan(count / 10), { timeout: 60_000, interval: 5 });
    await run.end('SIGKILL');
    await run.startReading();
    await vi.waitFor(() => expect(ids().size).toBeGreaterThanOrEqual(count), { timeout: 60_000, interval: 50 });
    client.disconnect();
    expect((await run.end('SIGINT'))?.code).toBe(0);
    expect(audit(heard, count).lost).toEqual([]);
    // What comes again has the id that it had.
    expect(ids().size).toBe(count);
  });

  it('looks up what stands under a key, and goes on after the server was away', async () => {
    const client = clientOf(broker.port);
    await client.hset('user:ann', { role: 'admin', level: '7' });
    await client.set('user:bob', '{"role":"guest","level":1}');
    await client.hset('user:dot', { role: '12345678901234567890', level: '12e345' });
    await client.set('user:eve', '{"role":9007199254740993,"level":1}');
    client.disconnect();
    const run = begin(
      (folder) => `
event Login:
    n: int
    user: str

connector In = file (path: "${folder}/in.jsonl")
connector Out = file (path: "${folder}/out.jsonl")
connector Users = redis (${url()}, key_prefix: "user:")

stream Known = Login.from(In)
    .enrich(Users, key: user, fields: [role, level], fallback: {role: "none"})
    .emit(n, role, level, how: enrich_status)
    .to(Out)
`,
    );
    const login = (n: number, user: string): void =>
      appendFileSync(run.path('in.jsonl'), `${JSON.stringify({ event_type: 'Login', n, user })}\n`);
    const given = (): unknown[] => run.delivered('out.jsonl').map(({ data }) => data);
    for (const [n, user] of ['ann', 'bob', 'carl', 'ann', 'dot', 'eve'].entries()) login(n, user);
    await run.startReading();
    const expected = [
      { n: 0, role: 'admin', level: 7, how: 'ok' },
      { n: 1, role: 'guest', level: 1, how: 'ok' },
      { n: 2, role: 'none', level: null, how: 'fallback' },
      { n: 3, role: 'admin', level: 7, how: 'ok' },
      { n: 4, role: '12345678901234567890', level: '12e345', how: 'ok' },
      { n: 5, role: '9007199254740993', level: 1, how: 'ok' },
    ];
    await vi.waitFor(() => expect(given()).toEqual(expected), { timeout: 30_000, interval: 50 });
    await broker.kill('SIGKILL');
    login(6, 'ann');
    await vi.waitFor(() => expect(given()[6]).toEqual({ n: 6, role: 'none', level: null, how: 'fallback' }), {
      timeout: 30_000,
      interval: 50,
    });
    await broker.startAgain();
    let n = 7;
    await vi.waitFor(
      () => {
        login(n++, 'ann');
        expect(given().at(-1)).toMatchObject({ role: 'admin', how: 'ok' });
      },
      { timeout: 30_000, interval: 300 },
    );
    expect((await run.end('SIGINT'))?.code).toBe(0);
  });

  it('says at the start that the server cannot be reached, refuses the login, or has something else under the name', async () => {
    const failing = async (connector: string, topic: string): Promise<string> => {
      const ended = await begin(reading(connector, topic)).start().ended;
      expect(ended.code).toBe(4);
      return ended.stderr.split('\n').find((line) => line.startsWith('error: ')) ?? ended.stderr;
    };
    const client = clientOf(broker.port);
    await client.set('text', 'no stream');
    client.disconnect();
    const [unreachable, refused, other] = await Promise.all([
      failing('redis_stream (url: "redis://127.0.0.1:1")', 'readings'),
      failing(`redis_stream (${url().replace('secret', 'wrong')})`, 'readings'),
      failing(`redis_stream (${url()})`, 'text'),
    ]);
    expect(unreachable).toMatch(/connect ECONNREFUSED 127\.0\.0\.1:1/);
    expect(refused).toMatch(/WRONGPASS/);
    expect(other).toMatch(/WRONGTYPE/);
  });
});
