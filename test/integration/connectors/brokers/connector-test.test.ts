import { Redis } from 'ioredis';
import kafkajs from 'kafkajs';
import { connect, type NatsConnection } from 'nats';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CepResult, cep } from '../../../unit/cli/cep.ts';
import { WorkFolder } from '../../../unit/cli/work-folder.ts';
import { hasBroker, RunningBroker } from './containers.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const folder = new WorkFolder();

/** Tests a program that reads from one connector, or writes to it; all steps may take long. */
function tested(connector: string, use: string): Promise<CepResult> {
  const program = folder.write(
    'rules.vpl',
    `
event Reading:
    n: int

connector Broker = ${connector}
connector Screen = console ()

stream Each = Reading${use.startsWith('.from') ? `${use}\n    .emit(n)\n    .to(Screen)` : `\n    .emit(n)\n    ${use}`}
`,
  );
  return cep(['connector', 'test', 'Broker', '-p', program, '--step-timeout', '20s']);
}

const lines = ({ stdout }: CepResult): readonly string[] => stdout.split('\n').slice(1, -1);
const outcomes = (result: CepResult): readonly string[] =>
  lines(result).flatMap((line) => /^ {2}(\w+ +\w+) {2}/.exec(line)?.[1]?.replace(/ +/, ' ') ?? []);

describe.skipIf(!(await hasBroker('redis')))('cep connector test of redis', () => {
  let broker: RunningBroker;
  let client: Redis;
  beforeAll(async () => {
    const command = ['redis-server', '--port', '6379', '--requirepass', 'top-secret', '--databases', '4'];
    broker = await RunningBroker.start({ broker: 'redis', port: 6379, command });
    client = new Redis({ port: broker.port, host: '127.0.0.1', password: 'top-secret' });
    await client.xadd('readings', '*', 'n', '1');
    await client.set('text', 'no stream');
    await client.acl('SETUSER', 'guest', 'on', '>guest-secret', '+@all', '-subscribe', '~*', '&*');
  });
  afterAll(async () => {
    client?.disconnect();
    await broker?.stop();
  });
  const url = (login = ':top-secret', database = ''): string => `url: "redis://${login}@127.0.0.1:${broker.port}${database}"`;

  it('is right for what is there, and makes nothing', async () => {
    const reading = await tested(`redis_stream (${url()}, group: "cep")`, '.from(Broker, topic: "readings")');
    expect(reading.exitCode).toBe(0);
    expect(outcomes(reading)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok topic', 'ok group']);
    expect(reading.stdout).toContain("the group 'cep' is not there yet: the program makes it when it begins to read");
    expect(await client.xinfo('GROUPS', 'readings')).toEqual([]);
    const writing = await tested(`redis_stream (${url()})`, '.to(Broker, topic: "alerts")');
    expect(writing.exitCode).toBe(0);
    expect(outcomes(writing)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok topic', 'untested permission']);
    expect(await client.exists('alerts')).toBe(0);
    const listening = await tested(`redis (${url(undefined, '/3')})`, '.from(Broker, topic: "news")');
    expect(listening.exitCode).toBe(0);
    expect(outcomes(listening)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok database', 'ok permission']);
  });

  it('finds the group that is there', async () => {
    await client.xgroup('CREATE', 'grouped', 'cep', '0', 'MKSTREAM');
    const result = await tested(`redis_stream (${url()}, group: "cep")`, '.from(Broker, topic: "grouped")');
    expect(lines(result).at(-1)).toBe("  ok        group       the group 'cep' is there");
  });

  it.each([
    ['a wrong password', () => url(':other-secret'), 'readings', 'login', /WRONGPASS/],
    ['no password', () => `url: "redis://127.0.0.1:${broker.port}"`, 'readings', 'login', /NOAUTH/],
    ['a database that is not there', () => url(undefined, '/9'), 'readings', 'database', /DB index is out of range/],
    ['a stream that is not there', () => url(), 'redings', 'topic', /found no stream 'redings', expected one that can be read/],
    ['something else than a stream', () => url(), 'text', 'topic', /WRONGTYPE/],
  ])('says what is wrong with %s', async (_, address, topic, step, text) => {
    const result = await tested(`redis_stream (${address()})`, `.from(Broker, topic: "${topic}")`);
    expect(result.exitCode).toBe(4);
    expect(outcomes(result).at(-1)).toBe(`failed ${step}`);
    expect(result.stdout).toMatch(text);
    expect(result.stdout + result.stderr).not.toMatch(/(?:top|other)-secret/);
  });

  it('says that a channel may not be listened to', async () => {
    const result = await tested(`redis (${url('guest:guest-secret')})`, '.from(Broker, topic: "news")');
    expect(result.exitCode).toBe(4);
    expect(outcomes(result).at(-1)).toBe('failed permission');
    expect(result.stdout).toMatch(/NOPERM/);
  });
});

/** One user who may read what is under `plant/`. */
const mosquitto = {
  '/tmp/m.conf': 'listener 1883 0.0.0.0\npassword_file /tmp/passwords\nacl_file /tmp/acl\nallow_anonymous false\nuser root\n',
  '/tmp/acl': 'user cep\ntopic read plant/#\n',
};

describe.skipIf(!(await hasBroker('mosquitto')))('cep connector test of mqtt', () => {
  let broker: RunningBroker;
  beforeAll(async () => {
    const command = ['sh', '-c', 'mosquitto_passwd -b -c /tmp/passwords cep top-secret && exec mosquitto -c /tmp/m.conf'];
    broker = await RunningBroker.start({ broker: 'mosquitto', port: 1883, command, files: mosquitto });
  });
  afterAll(async () => broker?.stop());
  const connector = (login: string): string => `mqtt (host: "127.0.0.1", port: ${broker.port}${login})`;
  const login = (password: string): string => `, username: "cep", password: "${password}"`;

  it('is right for a login and a topic that the broker takes', async () => {
    const reading = await tested(connector(login('top-secret')), '.from(Broker, topic: "plant/+")');
    expect(reading.exitCode).toBe(0);
    expect(outcomes(reading)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok permission']);
    const writing = await tested(connector(login('top-secret')), '.to(Broker, topic: "alerts")');
    expect(writing.exitCode).toBe(0);
    expect(outcomes(writing)).toEqual(['ok name', 'ok tcp', 'ok login', 'untested permission']);
  });

  it.each([
    ['a wrong password', login('other-secret'), /reason code \d.*\n +correct `username` and `password`/],
    ['no login', '', /reason code \d.*\n +the broker wants a login/],
  ])('says what is wrong with %s', async (_, settings, text) => {
    const result = await tested(connector(settings), '.from(Broker, topic: "plant/+")');
    expect(result.exitCode).toBe(4);
    expect(outcomes(result).at(-1)).toBe('failed login');
    expect(result.stdout).toMatch(text);
    expect(result.stdout + result.stderr).not.toContain('other-secret');
  });
});

describe.skipIf(!(await hasBroker('kafka')))('cep connector test of kafka', () => {
  let broker: RunningBroker;
  beforeAll(async () => {
    broker = await RunningBroker.start({
      broker: 'kafka',
      port: 9092,
      environment: (outside) => ({
        KAFKA_EXTERNAL: `127.0.0.1:${outside}`,
        KAFKA_SECURITY: 'SASL_PLAINTEXT',
        KAFKA_USERS: 'cep:top-secret',
        KAFKA_HEAP: '128m',
      }),
    });
    const admin = new kafkajs.Kafka({
      brokers: [`127.0.0.1:${broker.port}`],
      sasl: { mechanism: 'plain', username: 'cep', password: 'top-secret' },
      logLevel: kafkajs.logLevel.NOTHING,
      retry: { retries: 30, initialRetryTime: 200, maxRetryTime: 1_000 },
    }).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: 'readings', numPartitions: 3, replicationFactor: 1 }], waitForLeaders: true });
    await admin.disconnect();
  });
  afterAll(async () => broker?.stop());
  const connector = (password: string): string =>
    `kafka (brokers: ["127.0.0.1:${broker.port}"], sasl_mechanism: "plain", sasl_username: "cep", sasl_password: "${password}")`;

  it('is right for a login and a topic that are there', async () => {
    const result = await tested(connector('top-secret'), '.from(Broker, topic: "readings")');
    expect(result.exitCode).toBe(0);
    expect(outcomes(result)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok topic', 'untested permission']);
    expect(result.stdout).toContain("the topic 'readings' has 3 partitions");
  });

  it.each([
    ['a wrong password', 'other-secret', 'readings', 'login', /correct `sasl_username`, `sasl_password`/],
    ['a topic that is not there', 'top-secret', 'redings', 'topic', /expected a topic 'redings' that this user may see/],
  ])('says what is wrong with %s', async (_, password, topic, step, text) => {
    const result = await tested(connector(password), `.from(Broker, topic: "${topic}")`);
    expect(outcomes(result).at(-1)).toBe(`failed ${step}`);
    expect(result.exitCode).toBe(4);
    expect(result.stdout).toMatch(text);
    expect(result.stdout + result.stderr).not.toMatch(/(?:top|other)-secret/);
  });
});

const natsConfig = `
listen: 0.0.0.0:4222
jetstream { store_dir: /var/lib/nats }
authorization {
  users = [
    { user: cep, password: top-secret, permissions: { publish: ">", subscribe: { deny: "hidden.>" } } }
  ]
}
`;

describe.skipIf(!(await hasBroker('nats')))('cep connector test of nats', () => {
  let broker: RunningBroker;
  let client: NatsConnection;
  beforeAll(async () => {
    const command = ['nats-server', '-c', '/tmp/nats.conf'];
    broker = await RunningBroker.start({ broker: 'nats', port: 4222, command, files: { '/tmp/nats.conf': natsConfig } });
    client = await connect({ servers: `127.0.0.1:${broker.port}`, user: 'cep', pass: 'top-secret' });
    await (await client.jetstreamManager()).streams.add({ name: 'readings', subjects: ['readings.>'] });
  });
  afterAll(async () => {
    await client?.close();
    await broker?.stop();
  });
  const connector = (more = '', login = 'cep:top-secret'): string => `nats (servers: "nats://${login}@127.0.0.1:${broker.port}"${more})`;

  it('is right for what is there, and makes nothing', async () => {
    const listening = await tested(connector(), '.from(Broker, topic: "news.>")');
    expect(outcomes(listening)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok permission']);
    const reading = await tested(connector(', durable: "cep"'), '.from(Broker, topic: "readings.>")');
    expect(outcomes(reading)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok topic', 'ok group']);
    expect(reading.stdout).toContain("the consumer 'cep' is not there yet: the program makes it when it begins to read");
    const writing = await tested(connector(', jetstream: true'), '.to(Broker, topic: "readings.b")');
    expect(outcomes(writing)).toEqual(['ok name', 'ok tcp', 'ok login', 'ok topic', 'untested permission']);
    expect([listening, reading, writing].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    const { state } = await (await client.jetstreamManager()).streams.info('readings');
    expect([state.messages, state.consumer_count]).toEqual([0, 0]);
  });

  it.each([
    ['a wrong password', () => connector('', 'cep:other-secret'), 'news', 'login', /refuses the login[\s\S]*correct the login/],
    ['no login', () => `nats (servers: "127.0.0.1:${broker.port}")`, 'news', 'login', /refuses the login[\s\S]*give `username`/],
    ['TLS that the server does not speak', () => connector(', tls: true'), 'news', 'login', /the server speaks no TLS/],
    ['a subject that may not be read', () => connector(), 'hidden.a', 'permission', /expected that 'hidden\.a' can be read/],
    ['a stream that is not there', () => connector(', jetstream: true'), 'redings.a', 'topic', /a stream with the subject 'redings\.a'/],
  ])('says what is wrong with %s', async (_, declared, topic, step, text) => {
    const result = await tested(declared(), `.from(Broker, topic: "${topic}")`);
    expect(result.exitCode).toBe(4);
    expect(outcomes(result).at(-1)).toBe(`failed ${step}`);
    expect(result.stdout).toMatch(text);
    expect(result.stdout + result.stderr).not.toMatch(/(?:top|other)-secret/);
  });
});
