import type { Duplex } from 'node:stream';
import type { Pool, QueryConfig } from 'pg';
import { timestampText } from '../../../shared/events/time-text.ts';
import { untilLeft } from '../in-time.ts';
import { exactJson, exactNumber } from '../lookups/exact-json.ts';
import { ANSWER_MS_MAX, type Database, type DatabaseAddress, type DatabaseRow } from './database.ts';

const INT8 = 20;
const NUMERIC = 1700;
const JSON_TYPES = [114, 3802];
/** Lists of them. */
const NUMERICS = 1231;
const JSONS = [199, 3807];
const TEXTS = 1009;
const DATE = 1082;
const TIMESTAMP = 1114;
const IDLE_MS_MAX = 60_000;
/** The driver takes 0 for its default. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** PostgreSQL, over sockets of the door. */
export class PostgresDatabase implements Database {
  readonly #address: DatabaseAddress;
  #opening: Promise<Pool> | undefined;

  constructor(address: DatabaseAddress) {
    this.#address = address;
  }

  async query(text: string, values: readonly unknown[], signal?: AbortSignal): Promise<readonly DatabaseRow[]> {
    this.#opening ??= openPool(this.#address);
    const pool = await this.#opening;
    if (signal === undefined) return (await pool.query<DatabaseRow>(text, [...values])).rows;
    const client = await pool.connect();
    client.on('error', ignored);
    let problem: Error | undefined;
    try {
      const asked: QueryConfig & { readonly query_timeout: number } = { text, values: [...values], query_timeout: TIMER_MS_MAX };
      return (await untilLeft(client.query<DatabaseRow>(asked), signal, ANSWER_MS_MAX)).rows;
    } catch (cause) {
      problem = cause as Error;
      throw cause;
    } finally {
      client.off('error', ignored);
      client.release(problem);
    }
  }

  quoted(name: readonly string[]): string {
    return name.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
  }

  async describe(table: readonly string[]): ReturnType<Database['describe']> {
    const columns = await this.query(
      `select a.attname as name, format_type(a.atttypid, null) as type
         from pg_attribute a where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped`,
      [this.quoted(table)],
    );
    const unique = await this.query(
      `select 1 from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indrelid = to_regclass($1) and i.indisunique and i.indnkeyatts = 1 and i.indpred is null and a.attname = 'id'`,
      [this.quoted(table)],
    );
    return { columns: new Map(columns.map(({ name, type }) => [String(name), String(type)])), hasUniqueId: unique.length > 0 };
  }

  replacing(columns: readonly string[]): string {
    const set = columns.map((column) => `${column} = excluded.${column}`).join(', ');
    return `on conflict (${this.quoted(['id'])}) do update set ${set}`;
  }

  timeText(ms: number): string {
    return timestampText(ms);
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    await (await opening)?.end();
  }
}

async function openPool({ door, host, port, tls, database, user, password, poolSize }: DatabaseAddress): Promise<Pool> {
  const { Pool: PoolClass, types } = (await import('pg')).default;
  const parserOf = types.getTypeParser as (id: number) => (text: string) => unknown;
  const ofEach = (parse: (text: string) => unknown) => (text: string) => inEach(parserOf(TEXTS)(text), parse);
  const parsers: Readonly<Record<number, (text: string) => unknown>> = {
    [INT8]: exactNumber,
    [NUMERIC]: exactNumber,
    [NUMERICS]: ofEach(exactNumber),
    ...Object.fromEntries(JSON_TYPES.map((type) => [type, exactJson])),
    ...Object.fromEntries(JSONS.map((type) => [type, ofEach(exactJson)])),
    [DATE]: String,
    // Without a zone it is UTC, wherever this process runs.
    [TIMESTAMP]: (text) => new Date(`${text.replace(' ', 'T')}Z`),
  };
  const pool = new PoolClass({
    host,
    port,
    database,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    max: poolSize,
    idleTimeoutMillis: IDLE_MS_MAX,
    connectionTimeoutMillis: ANSWER_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    application_name: 'cep',
    ...(tls === undefined ? {} : { ssl: { ...tls, rejectUnauthorized: true } }),
    // The driver asks for a socket and connects it by itself: this one is on its way already.
    stream: (): Duplex => {
      const socket = door.connect({ host, port });
      socket.connect = () => socket;
      return socket;
    },
    types: {
      getTypeParser: ((id: number, format?: 'text') => parsers[id] ?? types.getTypeParser(id, format)) as typeof types.getTypeParser,
    },
  });
  // Of a connection that nobody is using: the next query gets another.
  pool.on('error', ignored);
  return pool;
}

function ignored(): void {
  // What is under way on the connection says it too.
}

/** Of a list, also of lists. */
function inEach(item: unknown, parse: (text: string) => unknown): unknown {
  if (Array.isArray(item)) return item.map((one) => inEach(one, parse));
  return typeof item === 'string' ? parse(item) : item;
}
