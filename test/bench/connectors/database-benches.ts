import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { type BrokerBench, inGroups, rate, readingFields, sent } from './broker-bench.ts';

const columns = 'id varchar(100) primary key, sensor varchar(40), value double precision, unit varchar(10)';
const PASSWORD = 'top-secret';
const PREPARING_MS = 4_000;

/** Rows of one statement. */
function valuesOf(numbers: readonly number[], round: number): unknown[] {
  const { sensor, value, unit } = readingFields;
  return numbers.flatMap((n) => [`${round}-${n}`, sensor, value, unit]);
}

interface BenchedServer extends Pick<BrokerBench, 'name' | 'broker' | 'start'> {
  readonly url: (port: number) => string;
  readonly connect: (port: number) => Promise<{ query(text: string, values: unknown[]): Promise<unknown>; end(): Promise<unknown> }>;
  readonly place: (n: number) => string;
  readonly replacing: string;
}

function databaseBench({ name, broker, start, url, connect, place, replacing }: BenchedServer): BrokerBench {
  return {
    name,
    broker,
    start,
    open: async (port, count) => {
      await (await patiently(() => connect(port))).end();
      // The one that prepares the database takes logins too, and goes again.
      await new Promise((resolve) => setTimeout(resolve, PREPARING_MS));
      const client = await patiently(() => connect(port));
      for (const table of ['bare', 'ours']) await client.query(`create table ${table} (${columns})`, []);
      let round = 0;
      const insert = (numbers: readonly number[]): Promise<unknown> => {
        const rows = numbers.map((_, row) => `(${[1, 2, 3, 4].map((at) => place(row * 4 + at)).join(', ')})`);
        return client.query(`insert into bare (id, sensor, value, unit) values ${rows.join(', ')} ${replacing}`, valuesOf(numbers, round));
      };
      const bare = (): Promise<number> => {
        round++;
        return rate(count, () => inGroups(count, insert));
      };
      const connector = (): Promise<number> => sent(name, { url: url(port), table: 'ours' }, count);
      return { close: () => client.end(), pairs: [{ what: 'rows of a table, replaced by id', bare, connector }] };
    },
  };
}

/** It takes a while until the server takes logins. */
async function patiently<T>(connect: () => Promise<T>): Promise<T> {
  for (let left = 150; ; left--) {
    try {
      return await connect();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

export const databaseBenches: readonly BrokerBench[] = [
  databaseBench({
    name: 'postgres',
    broker: 'postgresql',
    start: { broker: 'postgresql', port: 5432, environment: () => ({ POSTGRES_PASSWORD: PASSWORD }) },
    url: (port) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    connect: async (port) => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password: PASSWORD, database: 'postgres' });
      client.on('error', () => undefined); // Whoever asks it next hears of it.
      await client.connect();
      return client;
    },
    place: (n) => `$${n}`,
    replacing: 'on conflict (id) do update set sensor = excluded.sensor, value = excluded.value, unit = excluded.unit',
  }),
  databaseBench({
    name: 'mysql',
    broker: 'mariadb',
    start: { broker: 'mariadb', port: 3306, environment: () => ({ MARIADB_ROOT_PASSWORD: PASSWORD, MARIADB_DATABASE: 'shop' }) },
    url: (port) => `mysql://root:${PASSWORD}@127.0.0.1:${port}/shop`,
    connect: (port) => createConnection({ host: '127.0.0.1', port, user: 'root', password: PASSWORD, database: 'shop' }),
    place: () => '?',
    replacing: 'on duplicate key update sensor = values(sensor), value = values(value), unit = values(unit)',
  }),
];
