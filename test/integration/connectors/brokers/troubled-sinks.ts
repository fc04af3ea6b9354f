import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'mqtt';
import { createConnection as connectMysql } from 'mysql2/promise';
import type { NatsConnection } from 'nats';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { audit, type Delivered } from '../audit.ts';
import { committedIn } from './committed-topic.ts';
import { type Broker, hasBroker, RunningBroker } from './containers.ts';
import { advertisedAt, clientOf as kafkaClient, makeTopics, startKafka } from './kafka-publisher.ts';
import { Link } from './link.ts';
import { startMosquitto } from './mqtt-publisher.ts';
import { clientOf as natsClient, startNats } from './nats-publisher.ts';
import type { TroubledServer } from './own-server.ts';
import { ownSinks } from './own-sinks.ts';
import { clientOf as redisClient, startRedis } from './redis-publisher.ts';
import { delivered, sinkTo } from './tried-sink.ts';

export type Parameters = readonly (readonly [string, unknown])[];

interface Refused {
  /** Besides those of `open`. */
  readonly parameters: (outside: number) => Parameters;
  readonly reason: RegExp;
}

interface Open {
  /** Of a sink that reaches the broker by the link. */
  readonly parameters: Parameters;
  /** All that the broker has got, or what it has heard so far. */
  readonly written: () => Promise<readonly Delivered[]>;
  /** Whoever listens does so again after the server was away, which keeps nothing for others. */
  readonly listenAgain?: () => Promise<unknown>;
  readonly close?: () => Promise<unknown>;
}

export interface Row {
  readonly type: string;
  /** Of what, where the type has sinks of several kinds. */
  readonly of?: string;
  /** Undefined: this process is the server itself. */
  readonly broker?: Broker;
  /** So many before, while and after there is trouble. @default 200 */
  readonly each?: number;
  /** What comes again leaves no trace. */
  readonly isOnce: boolean;
  /** `outside`: the port of the link. */
  readonly start: (outside: number) => Promise<TroubledServer>;
  /** With SIGTERM it may write down what it has. @default SIGKILL */
  readonly killedWith?: 'SIGTERM';
  readonly open: (port: number, outside: number) => Promise<Open>;
  /** That it is not the server's user, and what is said of that. */
  readonly wrong: Refused;
  /** That what it names is not there, and what is said of that; where the protocol knows such a thing. */
  readonly missing?: Refused;
}

const wait = { timeout: 120_000, interval: 100 };
const event = (text: unknown): Delivered => JSON.parse(String(text)) as Delivered;

const columns = 'id varchar(100) primary key, n int';
const rowsOf = (rows: readonly Record<string, unknown>[]): readonly Delivered[] =>
  rows.map(({ id, n }) => ({ id: String(id), event_type: 'S', data: { n: Number(n) } }));

const rows: readonly Row[] = [
  ...ownSinks,
  {
    type: 'kafka',
    broker: 'kafka',
    isOnce: false,
    start: (outside) => startKafka(advertisedAt(outside)),
    open: async (_port, outside) => {
      await makeTopics(outside, ['alerts'], 3);
      const login = [
        ['sasl_username', 'cep'],
        ['sasl_password', 'secret'],
      ] as const;
      return {
        parameters: [['brokers', `127.0.0.1:${outside}`], ['topic', 'alerts'], ...login],
        written: () => committedIn(kafkaClient(outside, 20), 'alerts', 3),
      };
    },
    wrong: { parameters: () => [['sasl_password', 'no-word']], reason: /[Aa]uthentication failed/ },
    missing: { parameters: () => [['topic', 'nowhere']], reason: /no topic 'nowhere'/ },
  },
  {
    type: 'nats',
    broker: 'nats',
    isOnce: true,
    start: () => startNats(['alerts']),
    open: async (port, outside) => ({
      parameters: [
        ['servers', `127.0.0.1:${outside}`],
        ['username', 'cep'],
        ['password', 'secret'],
        ['subject', 'alerts.all'],
        ['jetstream', true],
      ],
      written: async () => {
        const client = await natsClient(port);
        const { streams } = await client.jetstreamManager();
        const { messages } = (await streams.info('alerts')).state;
        const all: Delivered[] = [];
        for (let seq = 1; seq <= messages; seq++) all.push((await streams.getMessage('alerts', { seq })).json<Delivered>());
        await client.close();
        return all;
      },
    }),
    wrong: { parameters: () => [['password', 'no-word']], reason: /refuses the login/ },
    missing: { parameters: () => [['subject', 'nowhere.all']], reason: /no stream of the server keeps 'nowhere\.all'/ },
  },
  {
    type: 'nats',
    of: 'a subject',
    broker: 'nats',
    isOnce: false,
    start: () => startNats([]),
    open: async (port, outside) => {
      const heard: Delivered[] = [];
      let client: NatsConnection | undefined;
      const listen = async (): Promise<void> => {
        client = await natsClient(port);
        client.subscribe('alerts', { callback: (_error, message) => heard.push(message.json<Delivered>()) });
        await client.flush();
      };
      await listen();
      return {
        parameters: [
          ['servers', `127.0.0.1:${outside}`],
          ['username', 'cep'],
          ['password', 'secret'],
          ['subject', 'alerts'],
        ],
        written: async () => heard,
        listenAgain: listen,
        close: async () => client?.close(),
      };
    },
    wrong: { parameters: () => [['password', 'no-word']], reason: /refuses the login/ },
  },
  {
    type: 'mqtt',
    broker: 'mosquitto',
    isOnce: false,
    start: startMosquitto,
    killedWith: 'SIGTERM',
    open: async (port, outside) => {
      const heard: Delivered[] = [];
      const listener = connect({ port, host: '127.0.0.1', username: 'cep', password: 'secret', clientId: 'auditor', clean: false });
      listener.on('message', (_topic, payload) => heard.push(event(payload)));
      listener.on('error', () => undefined);
      await new Promise<void>((resolve) => listener.once('connect', () => resolve()));
      await listener.subscribeAsync('alerts', { qos: 1 });
      return {
        parameters: [
          ['host', '127.0.0.1'],
          ['port', outside],
          ['username', 'cep'],
          ['password', 'secret'],
          ['topic', 'alerts'],
        ],
        written: async () => heard,
        close: () => listener.endAsync(true),
      };
    },
    wrong: { parameters: () => [['password', 'no-word']], reason: /[Nn]ot authori[sz]ed/ },
  },
  {
    type: 'redis',
    broker: 'redis',
    isOnce: false,
    start: startRedis,
    open: async (port, outside) => ({
      parameters: [
        ['url', `redis://127.0.0.1:${outside}`],
        ['password', 'secret'],
        ['stream', 'alerts'],
      ],
      written: async () => {
        const client = redisClient(port);
        const entries = await client.xrange('alerts', '-', '+');
        client.disconnect();
        return entries.map(([, fields]) => event(fields.at(-1)));
      },
    }),
    wrong: { parameters: () => [['password', 'no-word']], reason: /WRONGPASS/ },
  },
  {
    type: 'redis',
    of: 'a channel',
    broker: 'redis',
    isOnce: false,
    start: startRedis,
    open: async (port, outside) => {
      const heard: Delivered[] = [];
      let client = redisClient(port);
      const listen = async (): Promise<void> => {
        client.disconnect();
        client = redisClient(port);
        client.on('message', (_channel, text) => heard.push(event(text)));
        await client.subscribe('alerts');
      };
      await listen();
      return {
        parameters: [
          ['url', `redis://127.0.0.1:${outside}`],
          ['password', 'secret'],
          ['channel', 'alerts'],
        ],
        written: async () => heard,
        listenAgain: listen,
        close: async () => client.disconnect(),
      };
    },
    wrong: { parameters: () => [['password', 'no-word']], reason: /WRONGPASS/ },
  },
  {
    type: 'postgres',
    broker: 'postgresql',
    isOnce: true,
    start: () => RunningBroker.start({ broker: 'postgresql', port: 5432, environment: () => ({ POSTGRES_PASSWORD: 'secret' }) }),
    open: async (port, outside) => {
      const query = async (text: string): Promise<Record<string, unknown>[]> => {
        const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password: 'secret', database: 'postgres' });
        client.on('error', () => undefined);
        try {
          await client.connect();
          return (await client.query<Record<string, unknown>>(text)).rows;
        } finally {
          await client.end().catch(() => undefined);
        }
      };
      await vi.waitFor(() => query(`create table if not exists alerts (${columns})`), wait);
      return {
        parameters: [
          ['url', `postgres://postgres@127.0.0.1:${outside}/postgres`],
          ['password', 'secret'],
          ['table', 'alerts'],
        ],
        written: async () => rowsOf(await query('select id, n from alerts')),
      };
    },
    wrong: { parameters: () => [['password', 'no-word']], reason: /password authentication failed/ },
    missing: { parameters: () => [['table', 'nowhere']], reason: /no table 'nowhere'|nowhere/ },
  },
  {
    type: 'mysql',
    broker: 'mariadb',
    isOnce: true,
    start: () =>
      RunningBroker.start({
        broker: 'mariadb',
        port: 3306,
        environment: () => ({ MARIADB_ROOT_PASSWORD: 'secret', MARIADB_DATABASE: 'shop' }),
      }),
    open: async (port, outside) => {
      const query = async (text: string): Promise<Record<string, unknown>[]> => {
        const client = await connectMysql({ host: '127.0.0.1', port, user: 'root', password: 'secret', database: 'shop' });
        try {
          return (await client.query(text))[0] as Record<string, unknown>[];
        } finally {
          client.destroy();
        }
      };
      await vi.waitFor(() => query(`create table if not exists alerts (${columns})`), wait);
      return {
        parameters: [
          ['url', `mysql://root@127.0.0.1:${outside}/shop`],
          ['password', 'secret'],
          ['table', 'alerts'],
        ],
        written: async () => rowsOf(await query('select id, n from alerts')),
      };
    },
    wrong: { parameters: () => [['password', 'no-word']], reason: /Access denied/ },
    missing: { parameters: () => [['table', 'nowhere']], reason: /nowhere/ },
  },
];

const EACH = 200;

/** Numbers that there was nobody for. */
interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Declares the tests of sinks that lose their broker for a while; how long the silences are is what the forms differ in. */
export function testTroubledSinks({ pauseMs, cutMs }: { readonly pauseMs: number; readonly cutMs: number }): void {
  for (const { type, of, broker: image, isOnce, start, killedWith = 'SIGKILL', each = EACH, open, wrong, missing } of rows) {
    describe(`a sink of ${type}${of === undefined ? '' : `, ${of}`}`, () => {
      const closing: (() => Promise<unknown>)[] = [];
      afterEach(async () => {
        for (const close of closing.splice(0)) await close();
      });

      it('delivers all, over a kill and a pause of the server, and a cut; and says what is wrong with a login or a topic', async (context) => {
        if (image !== undefined && !(await hasBroker(image))) return context.skip();
        let port = 0;
        const link = await Link.to(() => port);
        closing.unshift(() => link.close());
        const broker = await start(link.port);
        closing.unshift(() => broker.stop());
        port = broker.port;
        const { parameters, written, listenAgain, close = async () => undefined } = await open(port, link.port);
        closing.unshift(close);
        const { sinks, send } = sinkTo(type, parameters);
        closing.unshift(() => sinks.close());
        let sent = 0;
        const more = (): void => {
          for (const end = sent + each; sent < end; sent++) send(sent);
        };
        const through = (count: number): Promise<void> => vi.waitFor(() => expect(delivered(sinks)).toBeGreaterThanOrEqual(count), wait);
        more();
        await through(sent);
        await broker.pause();
        more();
        await sleep(pauseMs);
        expect(delivered(sinks)).toBeLessThan(sent);
        await broker.resume();
        await through(sent);
        link.silence();
        more();
        await sleep(cutMs);
        expect(delivered(sinks)).toBeLessThan(sent);
        link.heal();
        await through(sent);
        const allHeard = (but: Gap): Promise<void> =>
          vi.waitFor(async () => expect(audit(await written(), sent).lost.filter((n) => n < but.from || n >= but.to)).toEqual([]), {
            ...wait,
            timeout: 20_000,
          });
        // What the server has taken it has not always passed on.
        if (listenAgain !== undefined) await allHeard({ from: sent, to: sent });
        const from = sent;
        await broker.kill(killedWith);
        more();
        await broker.startAgain();
        await through(sent);
        const to = listenAgain === undefined ? from : sent;
        if (listenAgain !== undefined) {
          await listenAgain();
          more();
          await through(sent);
        }
        expect([sinks.pending, sinks.dlqEvents]).toEqual([0, 0]);
        await allHeard({ from, to });
        const { repeated, repeatedIds } = audit(await written(), sent);
        expect(repeated.length).toBe(repeatedIds.length);
        if (isOnce) expect(repeated).toEqual([]);

        for (const { parameters: changed, reason } of [wrong, ...(missing === undefined ? [] : [missing])]) {
          const failing = sinkTo(type, [...parameters, ...changed(link.port), ['retries', 0], ['failure_threshold', 1]]);
          closing.unshift(() => failing.sinks.close());
          failing.send(0);
          await vi.waitFor(async () => expect((await failing.letters())[0]?.error).toMatch(reason), wait);
          expect(JSON.stringify(await failing.letters())).not.toMatch(/no-word/);
        }
      });
    });
  }
}
