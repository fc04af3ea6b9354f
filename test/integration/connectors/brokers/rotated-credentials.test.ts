import { readFileSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { connect, type MqttClient } from 'mqtt';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CepProcess } from '../../cli/cep-process.ts';
import { audit, type Delivered } from '../audit.ts';
import { committedIn } from './committed-topic.ts';
import { hasBroker, RunningBroker } from './containers.ts';
import { clientOf, KafkaPublisher, knowScramUser, makeTopics, scramConfig, startKafka } from './kafka-publisher.ts';
import { ProgramRun } from './program-run.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

const EACH = 30;
const KEY = 'the-key-of-the-server';
const [OLD, NEW] = ['pass-word-1', 'pass-word-2'];
const wait = { timeout: 120_000, interval: 100 };

interface Rotated {
  /** What the credentials file says of the login. */
  readonly properties: (password: string) => Readonly<Record<string, string>>;
  readonly publish: (count: number) => Promise<unknown>;
  /** What has come to the other topic of the broker. */
  readonly written: () => Promise<readonly Delivered[]>;
  /** From now on the broker takes this password alone; whoever is connected has to connect again. */
  readonly renew: (password: string) => Promise<unknown>;
}

/** Starts a process that has the program of the run and reads its credentials file. */
type Start = (run: ProgramRun, common: readonly string[]) => Promise<CepProcess>;

const byRun: Start = async (run, common) =>
  new CepProcess(['run', '-f', run.path('rules.vpl'), '--checkpoint-dir', run.path('state'), ...common]);

const byServer: Start = async (run, common) => {
  const own = ['--port', '0', '--workdir', run.folder, '--state-dir', run.path('state')];
  const server = new CepProcess(['server', ...own, ...common], { env: { CEP_API_KEY: KEY } });
  await server.until(({ stderr }) => stderr.includes('Server ready'));
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.stderr)?.[0];
  const answer = await fetch(`${url}/api/v1/pipelines`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body: JSON.stringify({ name: 'rules', source: readFileSync(run.path('rules.vpl'), 'utf8') }),
  });
  expect(answer.status).toBe(201);
  return server;
};

/** A run whose source and sink log in by one profile, which is written anew after the broker has changed the password. */
async function goesOn(run: ProgramRun, { properties, publish, written, renew }: Rotated, start = byRun): Promise<void> {
  const credentials = run.path('credentials.yaml');
  const write = (password: string, more: Readonly<Record<string, string>> = {}): void => {
    const lines = Object.entries({ ...properties(password), ...more }).map(([name, value]) => `      ${name}: "${value}"`);
    writeFileSync(credentials, `version: 1\nprofiles:\n  broker:\n    properties:\n${lines.join('\n')}\n`, { mode: 0o600 });
  };
  write(OLD);
  const cep = await start(run, ['--credentials', credentials, '--checkpoint-interval', '300ms']);
  try {
    await cep.until(({ stderr }) => stderr.includes('Source connected'));
    await publish(EACH);
    const numbers = (): Set<unknown> => new Set(run.delivered('out.jsonl').map(({ data }) => data['n']));
    await vi.waitFor(() => expect(numbers().size).toBe(EACH), wait);
    await renew(NEW);
    await cep.until(({ stderr }) => stderr.includes('Source not connected'));
    await publish(EACH);
    // What is wrong changes nothing.
    writeFileSync(credentials, 'profiles: 1');
    cep.kill('SIGHUP');
    await cep.until(({ stderr }) => stderr.includes('Credentials not read again'));
    write(NEW, { pass_word: NEW });
    cep.kill('SIGHUP');
    await cep.until(({ stderr }) => /Profile not taken.*has a property 'pass_word', which/.test(stderr));
    write(NEW);
    cep.kill('SIGHUP');
    await vi.waitFor(() => expect(numbers().size).toBe(2 * EACH), wait);
    cep.kill('SIGINT');
    expect((await cep.ended).code).toBe(0);
    expect(audit(run.delivered('out.jsonl'), 2 * EACH)).toEqual({ lost: [], repeated: [], repeatedIds: [] });
    expect(run.letters()).toEqual([]);
    expect(audit(await written(), 2 * EACH)).toMatchObject({ lost: [], repeatedIds: [] });
    expect(cep.stderr).not.toMatch(/pass-word/);
  } finally {
    cep.kill('SIGKILL');
    await cep.ended;
  }
}

const program = (connector: string, topic: string) => (folder: string) =>
  `
event Reading:
    n: int

connector Broker = ${connector}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Reading.from(Broker, topic: "${topic}")
    .emit(n)
    .to(Broker, topic: "alerts")
    .to(Out)
`;

const has = { redis: await hasBroker('redis'), mosquitto: await hasBroker('mosquitto'), kafka: await hasBroker('kafka') };

describe('a password that is changed while a program runs', () => {
  const open: { remove(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) await each.remove();
  });
  const runOf = (connector: string, topic = 'readings'): ProgramRun => {
    const run = new ProgramRun(program(connector, topic));
    open.unshift(run);
    return run;
  };
  const keep = (broker: RunningBroker): RunningBroker => {
    open.push({ remove: () => broker.stop() });
    return broker;
  };

  it.skipIf(!has.redis).each([
    ['cep run', byRun],
    ['cep server', byServer],
  ] as const)('is taken from its file when redis asks %s for it', async (_name, start) => {
    const { port } = keep(await RunningBroker.start({ broker: 'redis', port: 6379 }));
    const admin = new Redis({ port, host: '127.0.0.1' });
    open.unshift({ remove: async () => admin.disconnect() });
    await admin.call('ACL', 'SETUSER', 'cep', 'on', `>${OLD}`, '~*', '&*', '+@all');
    let published = 0;
    const rotated: Rotated = {
      properties: (password) => ({ url: `redis://cep:${password}@127.0.0.1:${port}` }),
      publish: async (count) => {
        for (const end = published + count; published < end; published++)
          await admin.xadd('readings', '*', 'event_type', 'Reading', 'n', published);
      },
      written: async () => (await admin.xrange('alerts', '-', '+')).map(([, fields]) => JSON.parse(fields.at(-1) ?? '') as Delivered),
      renew: async (password) => {
        await admin.call('ACL', 'SETUSER', 'cep', 'resetpass', `>${password}`);
        await admin.call('CLIENT', 'KILL', 'USER', 'cep');
      },
    };
    await goesOn(runOf('redis_stream (profile: "broker", retries: 1000)'), rotated, start);
  });

  it.skipIf(!has.mosquitto)('is taken from its file when an mqtt broker asks for it', async () => {
    const know = `mosquitto_passwd -b -c /tmp/passwords cep ${OLD} && mosquitto_passwd -b /tmp/passwords admin admin`;
    const command = ['sh', '-c', `test -f /tmp/passwords || { ${know}; }; exec mosquitto -c /tmp/m.conf`];
    const broker = keep(await RunningBroker.start({ broker: 'mosquitto', port: 1883, command, files: { '/tmp/m.conf': mosquittoConfig } }));
    const heard: Delivered[] = [];
    let published = 0;
    const withAdmin = async (work: (admin: MqttClient) => Promise<unknown>): Promise<void> => {
      const admin = connect({
        port: broker.port,
        host: '127.0.0.1',
        username: 'admin',
        password: 'admin',
        clientId: 'admin',
        clean: false,
      });
      admin.on('message', (_topic, payload) => heard.push(JSON.parse(String(payload)) as Delivered));
      await new Promise<void>((resolve) => admin.once('connect', () => resolve()));
      await admin.subscribeAsync('alerts', { qos: 1 });
      await work(admin);
      await admin.endAsync();
    };
    await goesOn(runOf(`mqtt (profile: "broker", host: "127.0.0.1", port: ${broker.port}, retries: 1000)`), {
      properties: (password) => ({ username: 'cep', password }),
      publish: (count) =>
        withAdmin(async (admin) => {
          for (const end = published + count; published < end; published++)
            await admin.publishAsync('readings', JSON.stringify({ event_type: 'Reading', n: published }), { qos: 1 });
        }),
      written: async () => {
        await withAdmin(() => vi.waitFor(() => expect(new Set(heard.map(({ id }) => id)).size).toBe(2 * EACH), wait));
        return heard.filter(({ id }, at) => heard.findIndex((other) => other.id === id) === at);
      },
      renew: async (password) => {
        await broker.run(['mosquitto_passwd', '-b', '/tmp/passwords', 'cep', password]);
        await broker.kill('SIGTERM');
        await broker.startAgain();
      },
    });
  });

  it.skipIf(!has.kafka).each(['SCRAM-SHA-256', 'SCRAM-SHA-512'])(
    'is taken from its file when kafka asks for it (%s)',
    async (mechanism) => {
      const broker = keep(await startKafka(scramConfig));
      await makeTopics(broker.port, ['readings', 'alerts'], 1);
      await knowScramUser(broker, { mechanism, username: 'scrambled', password: OLD });
      const publisher = new KafkaPublisher(broker.port, 'readings');
      open.unshift({ remove: () => publisher.leave() });
      const more = 'group_id: "cep", session_timeout: 3s, retries: 1000';
      const run = runOf(`kafka (profile: "broker", brokers: "127.0.0.1:${broker.port}", ${more})`);
      await goesOn(run, {
        properties: (password) => ({ sasl_mechanism: mechanism, sasl_username: 'scrambled', sasl_password: password }),
        publish: (count) => publisher.publish(count),
        written: () => committedIn(clientOf(broker.port, 20), 'alerts', 1),
        renew: async (password) => {
          await knowScramUser(broker, { mechanism, username: 'scrambled', password });
          // Whoever has logged in stays so until the connection ends.
          await broker.kill('SIGKILL');
          await broker.startAgain();
        },
      });
    },
  );
});

const mosquittoConfig = `listener 1883 0.0.0.0
password_file /tmp/passwords
allow_anonymous false
persistence true
persistence_location /var/lib/mosquitto/
max_queued_messages 0
user root
`;
