import { appendFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection as connectMysql } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { audit, type Delivered } from '../audit.ts';
import { type Broker, hasBroker, RunningBroker } from './containers.ts';
import { Link } from './link.ts';
import { ProgramRun } from './program-run.ts';
import { delivered, sinkTo } from './tried-sink.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 90_000 });

interface Server {
  readonly broker: Broker;
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly scheme: string;
  readonly user: string;
  readonly database: string;
  readonly json: string;
  readonly time: string;
  /** Without a zone. */
  readonly localTime: string;
  readonly quote: string;
  readonly unreachable: RegExp;
  query(port: number, text: string): Promise<readonly Record<string, unknown>[]>;
}

const servers: readonly Server[] = [
  {
    broker: 'postgresql',
    port: 5432,
    environment: { POSTGRES_PASSWORD: 'top-secret' },
    scheme: 'postgres',
    user: 'postgres',
    database: 'postgres',
    json: 'jsonb',
    time: 'timestamptz',
    localTime: 'timestamp',
    quote: '"',
    unreachable: /password authentication failed/,
    query: async (port, text) => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password: 'top-secret', database: 'postgres' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        return (await client.query(text)).rows;
      } finally {
        await client.end().catch(() => undefined);
      }
    },
  },
  {
    broker: 'mariadb',
    port: 3306,
    environment: { MARIADB_ROOT_PASSWORD: 'top-secret', MARIADB_DATABASE: 'shop' },
    scheme: 'mysql',
    user: 'root',
    database: 'shop',
    json: 'json',
    time: 'datetime(3)',
    localTime: 'datetime',
    quote: '`',
    unreachable: /Access denied/,
    query: async (port, text) => {
      const client = await connectMysql({ host: '127.0.0.1', port, user: 'root', password: 'top-secret', database: 'shop' });
      try {
        const [rows] = await client.query(text);
        return rows as Record<string, unknown>[];
      } finally {
        client.destroy();
      }
    },
  },
];

for (const server of servers) {
  const has = await hasBroker(server.broker);
  describe.skipIf(!has)(`${server.scheme} (${server.broker})`, () => {
    let broker: RunningBroker;
    const runs: ProgramRun[] = [];
    const query = (text: string): ReturnType<Server['query']> => server.query(broker.port, text);
    beforeAll(async () => {
      const { port, environment } = server;
      broker = await RunningBroker.start({ broker: server.broker, port, environment: () => environment });
      await vi.waitFor(() => query('select 1'), { timeout: 60_000, interval: 200 });
      await query(
        `create table alerts (id varchar(100) primary key, ${server.quote}timestamp${server.quote} ${server.time}, n int, data ${server.json})`,
      );
      await query(`create table ids (n int, code bigint, exact decimal(30, 2), more ${server.json})`);
      await query(`insert into ids values (0, 9007199254740993, 12345678901234567890.5, '{"id": 9007199254740993, "rate": 0.5}'),
        (1, 7, 2.25, '{"id": 7, "rate": null}')`);
      await query('create table loose (id varchar(100), n int)');
      await query(`create table dated (id varchar(100) primary key, n int, day date, moment ${server.localTime})`);
      await query('create table unlike (id varchar(100) primary key, person varchar(20) unique, n int)');
      const odd = server.scheme === 'postgres' ? '"odd ""name"' : '`odd ``name`';
      await query(`create table ${odd} (id varchar(100) primary key, n int)`);
      await query('create table users (name varchar(20) primary key, role varchar(20), level bigint, score decimal(6, 2))');
      await query("insert into users values ('ann', 'admin', 7, 1.5), ('bob', 'guest', 1, 2.25)");
    });
    afterAll(async () => {
      for (const run of runs) await run.remove();
      await broker?.stop();
    });
    const url = (password = 'top-secret'): string =>
      `url: "${server.scheme}://${server.user}:${password}@127.0.0.1:${broker.port}/${server.database}"`;
    const begin = (connector: () => string, sink = 'Db', body = '.emit(n)'): ProgramRun => {
      const run = new ProgramRun(
        (folder) => `
event Reading:
    n: int
    user: str

connector In = file (path: "${folder}/in.jsonl")
connector Out = file (path: "${folder}/out.jsonl")
connector Db = database (${connector()})

stream Each = Reading.from(In)
    ${body}
    .to(${sink})
`,
      );
      writeFileSync(run.path('in.jsonl'), '');
      runs.push(run);
      return run;
    };
    const readings = (count: number, user = 'ann'): string =>
      Array.from({ length: count }, (_, n) => `{"event_type":"Reading","n":${n},"user":"${user}"}\n`).join('');

    it('keeps every output once, over kills of the server and of cep', async () => {
      const count = 1_500;
      const run = begin(() => `${url()}, table: "alerts", retries: 100`);
      writeFileSync(run.path('in.jsonl'), readings(count));
      const kept = async (): Promise<number> => Number((await query('select count(*) as c from alerts'))[0]?.['c']);
      const until = (part: number): Promise<void> =>
        vi.waitFor(async () => expect(await kept()).toBeGreaterThanOrEqual(part), { timeout: 90_000, interval: 50 });
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
      const rows = await query('select id, n, data from alerts');
      const delivered = rows.map(({ id, n }): Delivered => ({ id: String(id), event_type: 'Each', data: { n: Number(n) } }));
      expect(audit(delivered, count)).toEqual({ lost: [], repeated: [], repeatedIds: [] });
      const [{ data } = {}] = rows.filter(({ n }) => n === 7);
      expect(typeof data === 'string' ? JSON.parse(data) : data).toEqual({ n: 7 });
    });

    it('writes to the very table that is named, whatever is in its name', async () => {
      const run = begin(() => `${url()}, table: ${server.scheme === 'postgres' ? `'odd "name'` : "'odd `name'"}`);
      await run.startReading();
      appendFileSync(run.path('in.jsonl'), readings(3));
      const odd = server.scheme === 'postgres' ? '"odd ""name"' : '`odd ``name`';
      const seen = async (): Promise<unknown> => ({
        rows: await query(`select n from ${odd} order by n`),
        letters: run.letters(),
        said: run.said,
      });
      await vi.waitFor(async () => expect(await seen()).toMatchObject({ rows: [{ n: 0 }, { n: 1 }, { n: 2 }], letters: [] }), {
        timeout: 30_000,
      });
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });

    it.each([
      ['no such table', 'nowhere', 'unknown_table', /no table 'nowhere': create it/],
      ['no unique id', 'loose', 'unfit_table', /cannot keep each event once: its column `id` is not unique/],
      ['a name that is none', 'alerts; drop table users', 'unknown_table', /no table 'alerts; drop table users'/],
    ])('says of %s what is wrong, makes nothing, and keeps the event', async (_, table, code, text) => {
      const run = begin(() => `${url()}, table: "${table}", retries: 0`);
      await run.startReading();
      appendFileSync(run.path('in.jsonl'), readings(1));
      await vi.waitFor(() => expect(run.letters()).toHaveLength(1), { timeout: 30_000, interval: 50 });
      expect(run.letters()[0]).toMatchObject({ connector: 'Db', code, error: expect.stringMatching(text), event: { data: { n: 0 } } });
      expect(await query('select count(*) as c from users')).toHaveLength(1);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });

    it('gives columns of times what says its zone, as UTC, and leaves the reading of other texts to the server', async () => {
      const body = `.emit(n, day: split(user, "|")[0], moment: split(user, "|")[1])`;
      const run = begin(() => `${url()}, table: "dated", retries: 0`, 'Db', body);
      await run.startReading();
      const users = [
        '2026-01-31|2026-01-31T10:00:00+02:00',
        'item 12|2026-01-31T10:00:00Z',
        '2026-01-31|order 7',
        '2026-02-01|2026-01-31 10:00:00',
      ];
      appendFileSync(run.path('in.jsonl'), users.map((user, n) => `${JSON.stringify({ event_type: 'Reading', n, user })}\n`).join(''));
      const rows = async (): Promise<unknown> => query("select n, concat(day, '') as d, concat(moment, '') as m from dated order by n");
      await vi.waitFor(async () => expect(((await rows()) as unknown[]).length + run.letters().length).toBe(users.length), {
        timeout: 30_000,
      });
      expect(await rows()).toEqual([
        { n: 0, d: '2026-01-31', m: '2026-01-31 08:00:00' },
        { n: 3, d: '2026-02-01', m: '2026-01-31 10:00:00' },
      ]);
      expect(run.letters().map(({ code, event }) => [code, (event as { data: { n: number } }).data.n])).toEqual([
        ['database_error', 1],
        ['database_error', 2],
      ]);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });

    it('means the same instants whatever zone the server is in', async () => {
      const [inTokyo, atHome, column, epoch] =
        server.scheme === 'postgres'
          ? [
              "alter role postgres set timezone = 'Asia/Tokyo'",
              'alter role postgres reset timezone',
              'timestamptz',
              'extract(epoch from at)::int',
            ]
          : ["set global time_zone = '+09:00'", 'set global time_zone = default', 'timestamp', 'unix_timestamp(at)'];
      await query(`create table zoned (id varchar(100) primary key, n int, at ${column} null, data ${server.json})`);
      await query(inTokyo);
      try {
        const { sinks, send, letters } = sinkTo(server.scheme, [
          ['url', `${server.scheme}://${server.user}:top-secret@127.0.0.1:${broker.port}/${server.database}`],
          ['table', 'zoned'],
        ]);
        send(1, { fieldsJson: '{"n":1,"at":"2026-01-01T00:00:00Z"}' });
        await sinks.idle(60_000);
        await sinks.close();
        expect(await letters()).toEqual([]);
        const run = begin(
          () => `${url()}, query: "select at from zoned where n = $1"`,
          'Out',
          '.enrich(Db, key: n, fields: [at])\n    .emit(n, at)',
        );
        await run.startReading();
        appendFileSync(run.path('in.jsonl'), readings(2));
        await vi.waitFor(() => expect(run.delivered('out.jsonl')).toHaveLength(1), { timeout: 30_000, interval: 50 });
        expect((await run.end('SIGINT'))?.code).toBe(0);
        const kept = await query(`select ${epoch} as at from zoned`);
        expect(kept.map(({ at }) => Number(at))).toEqual([Date.UTC(2026, 0, 1) / 1_000]);
        expect(run.delivered('out.jsonl')[0]?.data).toEqual({ n: 1, at: Date.UTC(2026, 0, 1) });
      } finally {
        await query(atHome);
      }
    });

    it('makes a dead letter at once of a row that the table refuses, by a trigger or for a value that its column does not take', async () => {
      const setUp =
        server.scheme === 'postgres'
          ? [
              "create type mode as enum ('on', 'off')",
              'create table choosy (id varchar(100) primary key, n int, kind mode)',
              `create function refuse() returns trigger as $$ begin if new.n = 7 then raise exception 'no sevens'; end if; return new; end $$ language plpgsql`,
              'create trigger choosing before insert on choosy for each row execute function refuse()',
            ]
          : [
              "create table choosy (id varchar(100) primary key, n int, kind enum('on', 'off'))",
              "create trigger choosing before insert on choosy for each row if new.n = 7 then signal sqlstate '45000' set message_text = 'no sevens'; end if",
            ];
      for (const text of setUp) await query(text);
      const { sinks, send, letters } = sinkTo(server.scheme, [
        ['url', `${server.scheme}://${server.user}:top-secret@127.0.0.1:${broker.port}/${server.database}`],
        ['table', 'choosy'],
      ]);
      const kinds = ['on', 'loud', 'off', 'loud', 'on', 'loud', 'on', 'on', 'loud', 'loud', 'off'];
      for (const [n, kind] of kinds.entries()) send(n, { fieldsJson: JSON.stringify({ n, kind }) });
      await sinks.idle(60_000);
      await sinks.close();
      expect((await query('select n from choosy order by n')).map(({ n }) => n)).toEqual([0, 2, 4, 6, 10]);
      expect((await letters()).map(({ id, code, attempts }) => [Number(id), code, attempts]).sort()).toEqual(
        [1, 3, 5, 7, 8, 9].map((n) => [n, 'database_error', 1]),
      );
    });

    it('takes another connection for one that has fallen silent, with one alone', async () => {
      const link = await Link.to(broker.port);
      const { sinks, send } = sinkTo(server.scheme, [
        ['url', `${server.scheme}://${server.user}:top-secret@127.0.0.1:${link.port}/${server.database}`],
        ['table', 'alerts'],
        ['pool_size', 1],
      ]);
      send(1_001);
      await sinks.idle(60_000);
      link.forget();
      send(1_002);
      await sinks.idle(60_000);
      expect(delivered(sinks)).toBe(2);
      await sinks.close();
      await link.close();
    });

    it('overwrites no row of another event that has the same value in another unique column', async () => {
      const run = begin(() => `${url()}, table: "unlike", retries: 0`, 'Db', '.emit(n, person: user)');
      await run.startReading();
      const users = ['ann', 'ann', 'bob'];
      appendFileSync(run.path('in.jsonl'), users.map((user, n) => `${JSON.stringify({ event_type: 'Reading', n, user })}\n`).join(''));
      const rows = (): ReturnType<Server['query']> => query('select person, n from unlike order by n');
      await vi.waitFor(async () => expect((await rows()).length + run.letters().length).toBe(users.length), { timeout: 30_000 });
      expect(await rows()).toEqual([
        { person: 'ann', n: 0 },
        { person: 'bob', n: 2 },
      ]);
      expect(run.letters()).toMatchObject([{ code: 'database_error', error: expect.stringMatching(/unique/), event: { data: { n: 1 } } }]);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });

    it('says that the login is refused, and shows no password', async () => {
      const run = begin(() => `${url('wrong-secret')}, table: "alerts", retries: 0`);
      await run.startReading();
      appendFileSync(run.path('in.jsonl'), readings(1));
      await vi.waitFor(() => expect(run.letters()).toHaveLength(1), { timeout: 30_000, interval: 50 });
      expect(run.letters()[0]?.['error']).toMatch(server.unreachable);
      const ended = await run.end('SIGINT');
      expect(`${JSON.stringify(run.letters())}${ended?.stderr}`).not.toContain('wrong-secret');
    });

    it('finds ids of any size as they are, in columns of exact numbers and in JSON', async () => {
      const run = begin(
        () => `${url()}, query: "select code, exact, more from ids where n = $1"`,
        'Out',
        '.enrich(Db, key: n, fields: [code, exact, more])\n    .emit(n, code, exact, more, how: enrich_status)',
      );
      await run.startReading();
      appendFileSync(run.path('in.jsonl'), readings(2));
      await vi.waitFor(() => expect(run.delivered('out.jsonl')).toHaveLength(2), { timeout: 30_000, interval: 50 });
      expect(run.delivered('out.jsonl').map(({ data }) => data)).toEqual([
        { n: 0, code: '9007199254740993', exact: '12345678901234567890.50', more: { id: '9007199254740993', rate: 0.5 }, how: 'ok' },
        { n: 1, code: 7, exact: 2.25, more: { id: 7, rate: null }, how: 'ok' },
      ]);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });

    it('waits for a look-up as long as the program says', async () => {
      const sleeping = server.scheme === 'postgres' ? 'select $1 as slept from pg_sleep(11)' : 'select sleep(11) + $1 as slept';
      const run = begin(
        () => `${url()}, query: "${sleeping}"`,
        'Out',
        '.enrich(Db, key: n, fields: [slept], timeout: 30s)\n    .emit(n, how: enrich_status)',
      );
      await run.startReading();
      appendFileSync(run.path('in.jsonl'), readings(1));
      await vi.waitFor(() => expect(run.delivered('out.jsonl')).toHaveLength(1), { timeout: 60_000, interval: 50 });
      expect(run.delivered('out.jsonl').map(({ data }) => data)).toEqual([{ n: 0, how: 'ok' }]);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });

    it('goes on to find as many as it can, where more are looked up than are found in time', async () => {
      const sleeping = server.scheme === 'postgres' ? 'select $1 as slept from pg_sleep(0.1)' : 'select sleep(0.1) + $1 as slept';
      const run = begin(
        () => `${url()}, query: "${sleeping}"`,
        'Out',
        '.enrich(Db, key: n, fields: [slept], timeout: 1s, fallback: 0)\n    .emit(n, how: enrich_status)',
      );
      await run.startReading();
      appendFileSync(run.path('in.jsonl'), readings(400));
      await vi.waitFor(() => expect(run.delivered('out.jsonl')).toHaveLength(400), { timeout: 60_000, interval: 50 });
      const hows = run.delivered('out.jsonl').map(({ data }) => String(data['how']));
      // Once the first of them were left there were none at all.
      expect(hows.slice(200).filter((how) => how === 'ok').length).toBeGreaterThan(40);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });

    it('looks up by a query, and takes a key for a value whatever is in it', async () => {
      const enrich = '.enrich(Db, key: user, fields: [role, level, score], fallback: {role: "none", level: 0, score: 0.0}, cache_ttl: 5m)';
      const run = begin(
        () => `${url()}, query: "select role, level, score from users where name = $1"`,
        'Out',
        `${enrich}\n    .emit(n, role, level, score, how: enrich_status)`,
      );
      await run.startReading();
      const users = ['ann', 'ann', 'bob', 'carl', "x' or '1'='1"];
      appendFileSync(run.path('in.jsonl'), users.map((user, n) => `${JSON.stringify({ event_type: 'Reading', n, user })}\n`).join(''));
      await vi.waitFor(() => expect(run.delivered('out.jsonl')).toHaveLength(users.length), { timeout: 30_000, interval: 50 });
      expect(run.delivered('out.jsonl').map(({ data }) => data)).toEqual([
        { n: 0, role: 'admin', level: 7, score: 1.5, how: 'ok' },
        { n: 1, role: 'admin', level: 7, score: 1.5, how: 'cached' },
        { n: 2, role: 'guest', level: 1, score: 2.25, how: 'ok' },
        { n: 3, role: 'none', level: 0, score: 0, how: 'fallback' },
        { n: 4, role: 'none', level: 0, score: 0, how: 'fallback' },
      ]);
      expect((await run.end('SIGINT'))?.code).toBe(0);
    });
  });
}
