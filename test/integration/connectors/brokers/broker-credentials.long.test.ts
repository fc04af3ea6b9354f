import { connect, credsAuthenticator, nkeys } from 'nats';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { openSource, settingsOf } from '../../../../worker/connectors/registry.ts';
import { ReadingSource } from '../../../unit/connectors/reading-source.ts';
import { hasBroker, RunningBroker } from './containers.ts';
import { issue, natsAuthorities } from './nats-authorities.ts';
import { delivered, sinkTo } from './tried-sink.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 240_000 });

const door = new OutboundDoor(NetworkPolicy.everywhere);
const environment = { console: () => undefined, door, keepsState: true };
const wait = { timeout: 90_000, interval: 20 };
const natsFile = '/tmp/nats.conf';
const command = ['nats-server', '-c', natsFile];

type Parameters = readonly (readonly [string, unknown])[];

/** A source and a sink of one topic, which are taken in until the login is `expired`, and again once it is `renewed`. */
async function holdsUp(
  { type, topic, parameters }: { readonly type: string; readonly topic: string; readonly parameters: Parameters },
  { expire, renew, reason }: { readonly expire: () => Promise<void>; readonly renew: () => Promise<void>; readonly reason: RegExp },
): Promise<void> {
  const { sinks, send } = sinkTo(type, [...parameters, ['topic', topic]]);
  const settings = settingsOf('In', type, [...parameters]);
  const reading = new ReadingSource(openSource({ ...settings, subscription: 's', topic, textFields: [] }, environment));
  try {
    send(0);
    await vi.waitFor(() => expect([delivered(sinks), reading.messages.length]).toEqual([1, 1]), wait);
    await expire();
    await vi.waitFor(() => expect(reading.problem).toMatch(reason), wait);
    for (let n = 1; n <= 20; n++) send(n);
    expect([delivered(sinks), reading.messages.length]).toEqual([1, 1]);
    await renew();
    await vi.waitFor(() => expect([delivered(sinks), sinks.pending, reading.messages.length]).toEqual([21, 0, 21]), wait);
    expect(reading.texts.map((text) => JSON.parse(text).data.n)).toEqual(Array.from({ length: 21 }, (_, n) => n));
    expect(reading.problem).toBeUndefined();
  } finally {
    await reading.close();
    await sinks.close();
  }
}

describe.skipIf(!(await hasBroker('nats')))('credentials of nats that expire', () => {
  const open: RunningBroker[] = [];
  afterAll(async () => {
    for (const broker of open) await broker.stop();
  });
  const start = async (config: string): Promise<RunningBroker> => {
    const broker = await RunningBroker.start({ broker: 'nats', port: 4222, command, files: { [natsFile]: config } });
    open.push(broker);
    return broker;
  };

  it('hold up source and sink with that reason, until the server knows them again; nothing is lost', async () => {
    const knowing = (password: string): string =>
      `listen: 0.0.0.0:4222\njetstream { store_dir: /var/lib/nats }\nauthorization { users = [ { user: cep, password: ${password} }, { user: admin, password: admin } ] }\n`;
    const broker = await start(knowing('first'));
    const admin = await connect({ servers: `127.0.0.1:${broker.port}`, user: 'admin', pass: 'admin' });
    await (await admin.jetstreamManager()).streams.add({ name: 'readings', subjects: ['readings.>'] });
    await admin.close();
    const know = async (password: string): Promise<void> => {
      await broker.write(natsFile, knowing(password));
      await broker.signal('SIGHUP');
    };
    await holdsUp(
      {
        type: 'nats',
        topic: 'readings.a',
        parameters: [
          ['servers', `nats://cep:first@127.0.0.1:${broker.port}`],
          ['jetstream', true],
        ],
      },
      { expire: () => know('second'), renew: () => know('first'), reason: /refuses the login|authori[sz]ation|authentication/i },
    );
  });

  it('say so, where a JWT has come to its end, and the source goes on trying', async () => {
    const { account, config } = natsAuthorities();
    const broker = await start(`listen: 0.0.0.0:4222\n${config}`);
    const servers = `127.0.0.1:${broker.port}`;
    const expiring = (seconds: number): string => issue(account, nkeys.createUser(), Math.floor(Date.now() / 1000) + seconds);
    const settings = settingsOf('In', 'nats', [
      ['servers', servers],
      ['creds', expiring(8)],
    ]);
    const reading = new ReadingSource(openSource({ ...settings, subscription: 's', topic: 'news', textFields: [] }, environment));
    await reading.until(() => reading.isConnected);
    const sender = await connect({ servers, authenticator: credsAuthenticator(Buffer.from(expiring(3_600))) });
    sender.publish('news', '{"event_type":"Reading","n":1}');
    await reading.until(() => reading.messages.length === 1);
    await vi.waitFor(() => expect(reading.problem).toMatch(/expired|refuses the login/i), wait);
    expect(reading.problem).not.toMatch(/SU[A-Z0-9]{20}|eyJ/);
    // It is refused again, for what is no longer valid.
    await vi.waitFor(() => expect(reading.problem).toMatch(/refuses the login/), wait);
    await sender.close();
    await reading.close();
  });
});

describe.skipIf(!(await hasBroker('kafka')))('credentials of kafka that expire', () => {
  let broker: RunningBroker;
  const users = '/tmp/users';
  beforeAll(async () => {
    broker = await RunningBroker.start({
      broker: 'kafka',
      port: 9092,
      command: ['bash', '-c', `export KAFKA_USERS="$(cat ${users})"; exec bash /opt/kafka/entrypoint.sh`],
      files: { [users]: 'cep:first' },
      environment: (outside) => ({
        KAFKA_EXTERNAL: `127.0.0.1:${outside}`,
        KAFKA_SECURITY: 'SASL_PLAINTEXT',
        KAFKA_HEAP: '128m',
        KAFKA_CONFIG: 'auto.create.topics.enable=true',
      }),
    });
  });
  afterAll(() => broker?.stop());

  it('hold up source and sink with that reason, until the cluster knows them again; nothing is lost', async () => {
    const know = async (password: string): Promise<void> => {
      await broker.write(users, `cep:${password}`);
      await broker.kill('SIGTERM');
      await broker.startAgain();
    };
    const { default: kafkajs } = await import('kafkajs');
    const admin = new kafkajs.Kafka({
      brokers: [`127.0.0.1:${broker.port}`],
      sasl: { mechanism: 'plain', username: 'cep', password: 'first' },
      retry: { retries: 20 },
    }).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: 'readings', numPartitions: 1 }] });
    await admin.disconnect();
    await holdsUp(
      {
        type: 'kafka',
        topic: 'readings',
        parameters: [
          ['brokers', `127.0.0.1:${broker.port}`],
          ['group_id', 'cep'],
          ['sasl_username', 'cep'],
          ['sasl_password', 'first'],
        ],
      },
      { expire: () => know('second'), renew: () => know('first'), reason: /Invalid username or password/ },
    );
  });
});
