import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConnection as connectMysql } from 'mysql2/promise';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startRuntime } from '../../runtime/runtime-under-test.ts';
import { type Broker, hasBroker, RunningBroker } from './containers.ts';
import { Link } from './link.ts';
import { OwnServer, type TroubledServer } from './own-server.ts';
import { clientOf as redisClient, startRedis } from './redis-publisher.ts';

interface Row {
  readonly type: string;
  /** Undefined: this process is the server itself. */
  readonly broker?: Broker;
  /** A server with keys from `u0` on, each with its own text as `role`. */
  readonly start: () => Promise<TroubledServer>;
  readonly fill?: (port: number) => Promise<unknown>;
  readonly connector: (port: number, word?: string) => string;
  /** One that names what is not there. */
  readonly missing: (port: number) => string;
}

const EACH = 50;
const wait = { timeout: 120_000, interval: 200 };
const keys = Array.from({ length: EACH }, (_, n) => `u${n}`);
const table = 'create table users (name varchar(20) primary key, role varchar(20))';
const values = `insert into users values ${keys.map((key) => `('${key}', '${key}')`).join(', ')}`;
const database =
  (url: (port: number, word: string) => string, from: string) =>
  (port: number, word = 'secret'): string =>
    `database (url: "${url(port, word)}", query: "select role from ${from} where name = $1")`;
const postgresUrl = (port: number, word: string): string => `postgres://postgres:${word}@127.0.0.1:${port}/postgres`;
const mysqlUrl = (port: number, word: string): string => `mysql://root:${word}@127.0.0.1:${port}/shop`;

const rows: readonly Row[] = [
  {
    type: 'http',
    start: () =>
      OwnServer.start(async () => {
        const server = createServer(({ url = '', headers }, response) => {
          const [, folder, key] = url.split('/');
          const isUser = headers.authorization === `Basic ${Buffer.from('cep:secret').toString('base64')}`;
          const status = isUser ? (folder === 'users' ? 200 : 404) : 401;
          response.writeHead(status).end(JSON.stringify(status === 200 ? { role: key } : {}));
        });
        await once(server.listen(0, '127.0.0.1'), 'listening');
        const close = async (): Promise<void> => {
          server.closeAllConnections();
          await new Promise((resolve) => server.close(resolve));
        };
        return { port: (server.address() as AddressInfo).port, close };
      }),
    connector: (port, word = 'secret') => `http (url: "http://cep:${word}@127.0.0.1:${port}/users")`,
    missing: (port) => `http (url: "http://cep:secret@127.0.0.1:${port}/nowhere")`,
  },
  {
    type: 'redis',
    broker: 'redis',
    start: startRedis,
    fill: async (port) => {
      const client = redisClient(port);
      await Promise.all(keys.map((key) => client.hset(`user:${key}`, { role: key })));
      client.disconnect();
    },
    connector: (port, word = 'secret') => `redis (url: "redis://:${word}@127.0.0.1:${port}", key_prefix: "user:")`,
    missing: (port) => `redis (url: "redis://:secret@127.0.0.1:${port}", key_prefix: "nowhere:")`,
  },
  {
    type: 'postgres',
    broker: 'postgresql',
    start: () => RunningBroker.start({ broker: 'postgresql', port: 5432, environment: () => ({ POSTGRES_PASSWORD: 'secret' }) }),
    fill: async (port) => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password: 'secret', database: 'postgres' });
      client.on('error', () => undefined);
      await client.connect();
      await client.query(`${table.replace('table', 'table if not exists')}; ${values} on conflict do nothing`);
      await client.end();
    },
    connector: database(postgresUrl, 'users'),
    missing: database(postgresUrl, 'nowhere'),
  },
  {
    type: 'mysql',
    broker: 'mariadb',
    start: () =>
      RunningBroker.start({
        broker: 'mariadb',
        port: 3306,
        environment: () => ({ MARIADB_ROOT_PASSWORD: 'secret', MARIADB_DATABASE: 'shop' }),
      }),
    fill: async (port) => {
      const client = await connectMysql({ host: '127.0.0.1', port, user: 'root', password: 'secret', database: 'shop' });
      await client.query(table.replace('table', 'table if not exists'));
      await client.query(values.replace('insert', 'insert ignore'));
      client.destroy();
    },
    connector: database(mysqlUrl, 'users'),
    missing: database(mysqlUrl, 'nowhere'),
  },
];

const program = (connector: string): string => `
event Login:
    user: str

connector Users = ${connector}

stream Known = Login
    .enrich(Users, key: user, fields: [role], timeout: 500ms, fallback: {role: "none"})
    .emit(user, role, how: enrich_status)
`;

/** Declares the tests of look-ups that lose their server for a while; how long the silences are is what the forms differ in. */
export function testTroubledLookups({ pauseMs, cutMs }: { readonly pauseMs: number; readonly cutMs: number }): void {
  for (const { type, broker: image, start, fill = async () => undefined, connector, missing } of rows) {
    describe(`look-ups in ${type}`, () => {
      const closing: (() => Promise<unknown>)[] = [];
      afterEach(async () => {
        for (const close of closing.splice(0)) await close();
      });

      it('give the fallback for each, in order, while the server is killed, paused or cut off, knows no login or no such name; and find all again', async (context) => {
        if (image !== undefined && !(await hasBroker(image))) return context.skip();
        const server = await start();
        closing.unshift(() => server.stop());
        await vi.waitFor(() => fill(server.port), wait);
        const link = await Link.to(server.port);
        closing.unshift(() => link.close());
        const under = await startRuntime({});
        closing.unshift(() => under.runtime.shutdown({ deadlineMs: 5_000 }));
        const ask = async (id: string): Promise<unknown[]> => {
          const logins = keys.map((user) => ({ event_type: 'Login', fields: { user } }));
          return (await under.inject(id, logins)).outputs.map(({ fieldsJson }) => JSON.parse(fieldsJson));
        };
        const found = keys.map((user) => ({ user, role: user, how: 'ok' }));
        const none = keys.map((user) => ({ user, role: 'none', how: 'fallback' }));
        const id = await under.deploy(program(connector(link.port)));
        const isFoundAgain = (): Promise<void> => vi.waitFor(async () => expect(await ask(id)).toEqual(found), wait);
        /** Asks for as long as nothing can be found. */
        const nothingFor = async (ms: number): Promise<void> => {
          const end = Date.now() + ms;
          do expect(await ask(id)).toEqual(none);
          while (Date.now() < end);
        };
        await isFoundAgain();
        await server.pause();
        await nothingFor(pauseMs);
        await server.resume();
        await isFoundAgain();
        link.silence();
        await nothingFor(cutMs);
        link.heal();
        await isFoundAgain();
        await server.kill('SIGKILL');
        await nothingFor(0);
        await server.startAgain();
        await isFoundAgain();

        for (const refused of [connector(link.port, 'no-word'), missing(link.port)]) {
          expect(await ask(await under.deploy(program(refused)))).toEqual(none);
        }
        // Some that the stream has given up may be under way still.
        const counted = () => under.runtime.scrape().pipelines.flatMap(({ lookups }) => lookups ?? []);
        await vi.waitFor(() => expect(counted()).toContainEqual({ connector: 'Users', result: 'error', count: EACH }), wait);
        expect(JSON.stringify(under.reports)).not.toMatch(/no-word/);
      });
    });
  }
}
