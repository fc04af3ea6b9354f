import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../../shared/security/network-policy.ts';
import { openSource, settingsOf } from '../../../../worker/connectors/registry.ts';
import { ReadingSource } from '../../../unit/connectors/reading-source.ts';
import { hasBroker, RunningBroker } from './containers.ts';
import { delivered, sinkTo } from './tried-sink.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const environment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) };
const wait = { timeout: 60_000, interval: 20 };

describe.skipIf(!(await hasBroker('redis')))('credentials of redis that expire', () => {
  let broker: RunningBroker;
  let admin: Redis;
  beforeAll(async () => {
    broker = await RunningBroker.start({
      broker: 'redis',
      port: 6379,
      command: ['redis-server', '--port', '6379', '--protected-mode', 'no'],
    });
    admin = new Redis({ port: broker.port, host: '127.0.0.1', maxRetriesPerRequest: null });
    admin.on('error', () => undefined);
    await renew('first');
  });
  afterAll(async () => {
    admin?.disconnect();
    await broker?.stop();
  });
  const renew = async (password: string): Promise<void> => {
    await admin.acl('SETUSER', 'cep', 'reset', 'on', `>${password}`, '+@all', '~*', '&*');
    await admin.client('KILL', 'USER', 'cep').catch(() => undefined);
  };

  it('hold up source and sink with that reason, until they are valid again; nothing is lost', async () => {
    const url = `redis://cep:first@127.0.0.1:${broker.port}`;
    const { sinks, send } = sinkTo('redis_stream', [
      ['url', url],
      ['stream', 'readings'],
    ]);
    const settings = settingsOf('In', 'redis_stream', [['url', url]]);
    const reading = new ReadingSource(openSource({ ...settings, subscription: 's', topic: 'readings', textFields: [] }, environment));
    send(0);
    await vi.waitFor(() => expect([delivered(sinks), reading.messages.length]).toEqual([1, 1]), wait);
    await renew('second');
    send(1);
    await vi.waitFor(() => expect(reading.problem).toMatch(/WRONGPASS/), wait);
    expect([delivered(sinks), sinks.pending]).toEqual([1, 1]);
    await renew('first');
    await vi.waitFor(() => expect([delivered(sinks), sinks.pending, reading.messages.length]).toEqual([2, 0, 2]), wait);
    expect(reading.texts.map((text) => JSON.parse(text).data)).toEqual([{ n: 0 }, { n: 1 }]);
    await reading.close();
    await sinks.close();
  });
});

describe.skipIf(!(await hasBroker('postgresql')))('credentials of postgres that expire', () => {
  let broker: RunningBroker;
  let admin: pg.Client;
  beforeAll(async () => {
    const variables = { POSTGRES_PASSWORD: 'top-secret' };
    broker = await RunningBroker.start({ broker: 'postgresql', port: 5432, environment: () => variables });
    admin = await vi.waitFor(async () => {
      const client = new pg.Client({
        host: '127.0.0.1',
        port: broker.port,
        user: 'postgres',
        password: 'top-secret',
        database: 'postgres',
      });
      await client.connect();
      return client;
    }, wait);
    await admin.query("create role cep login password 'first'");
    await admin.query('create table alerts (id varchar(100) primary key, n int)');
    await admin.query('grant all on alerts to cep');
  });
  afterAll(async () => {
    await admin?.end();
    await broker?.stop();
  });

  it('hold up the sink, until they are valid again; nothing is lost', async () => {
    const { sinks, send } = sinkTo('postgres', [
      ['url', `postgres://cep:first@127.0.0.1:${broker.port}/postgres`],
      ['table', 'alerts'],
    ]);
    send(0);
    await vi.waitFor(() => expect(delivered(sinks)).toBe(1), wait);
    await admin.query("alter role cep password 'second'");
    const end = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'cep'";
    await admin.query(end);
    const refused = "select count(*)::int as n from pg_stat_activity where usename = 'cep' and state is not null";
    await vi.waitFor(async () => expect((await admin.query(refused)).rows).toEqual([{ n: 0 }]), wait);
    for (let n = 1; n <= 20; n++) send(n);
    await vi.waitFor(() => expect([delivered(sinks), sinks.pending]).toEqual([1, 20]), wait);
    await admin.query("alter role cep password 'first'");
    await vi.waitFor(() => expect([delivered(sinks), sinks.pending]).toEqual([21, 0]), wait);
    expect((await admin.query('select count(*)::int as n from alerts')).rows).toEqual([{ n: 21 }]);
    await sinks.close();
  });
});
