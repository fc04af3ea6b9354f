import type { Connection, TypeCastField } from 'mysql2';
import type { Pool, PoolConnection } from 'mysql2/promise';
import { untilLeft } from '../in-time.ts';
import { exactJson, exactNumber } from '../lookups/exact-json.ts';
import { ANSWER_MS_MAX, type Database, type DatabaseAddress, type DatabaseRow, databaseReason, sqlState } from './database.ts';

const IDLE_MS_MAX = 60_000;
/** Texts, names and comments, in which a `$1` is none; and those that are. */
const PLACE = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)/g;

/** In a statement, what fails where it is asked for: it has two rows where one may be. */
const REFUSAL = '(select 1 union all select 2)';
const TWO_ROWS = 1242;
/** A value that is cut off, or is none of the type of its column, and a constraint: servers have general states for these (HY000, 01000). */
const refusedRows: ReadonlySet<unknown> = new Set([1265, 1366, 3819]);

/** MySQL and MariaDB, over sockets of the door. */
export class MysqlDatabase implements Database {
  readonly #address: DatabaseAddress;
  #opening: Promise<Pool> | undefined;

  constructor(address: DatabaseAddress) {
    this.#address = address;
  }

  async query(text: string, values: readonly unknown[], signal?: AbortSignal): Promise<readonly DatabaseRow[]> {
    this.#opening ??= openPool(this.#address);
    const pool = await this.#opening;
    const placed = withQuestionMarks(text, values);
    const asked = { sql: placed.text, values: [...placed.values] as NonNullable<unknown>[] };
    const answer = ofConnection(pool, (connection) =>
      signal === undefined
        ? connection.query({ ...asked, timeout: ANSWER_MS_MAX })
        : untilLeft(connection.query(asked), signal, ANSWER_MS_MAX),
    );
    const [rows] = await answer.catch((cause: unknown) => {
      const { errno } = cause as { readonly errno?: unknown };
      if (refusedRows.has(errno)) throw new RefusedRow(cause);
      throw text.includes(REFUSAL) && errno === TWO_ROWS ? new OtherRow(cause) : cause;
    });
    return Array.isArray(rows) ? (rows as readonly DatabaseRow[]) : [];
  }

  quoted(name: readonly string[]): string {
    return name.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');
  }

  async describe(table: readonly string[]): ReturnType<Database['describe']> {
    const [name = '', schema = this.#address.database] = [...table].reverse();
    const columns = await this.query(
      'select column_name as name, data_type as type from information_schema.columns where table_schema = $1 and table_name = $2',
      [schema, name],
    );
    const unique = await this.query(
      `select index_name as name from information_schema.statistics where table_schema = $1 and table_name = $2 and non_unique = 0
        group by index_name having count(*) = 1 and max(column_name) = 'id'`,
      [schema, name],
    );
    return { columns: new Map(columns.map((row) => [String(row['name']), String(row['type'])])), hasUniqueId: unique.length > 0 };
  }

  /** The clause is for any unique index: where it finds a row by another than that of the id, it must not touch it. */
  replacing(columns: readonly string[]): string {
    const id = this.quoted(['id']);
    const same = `${id} = if(${id} = values(${id}), ${id}, ${REFUSAL})`;
    const others = columns.filter((column) => column !== id).map((column) => `${column} = values(${column})`);
    return `on duplicate key update ${[same, ...others].join(', ')}`;
  }

  timeText(ms: number): string {
    return new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    await (await opening)?.end();
  }
}

/** One that has not answered in time is not used again: the pool would wait for its answer, for as long as the network does, and has a few. */
async function ofConnection<T>(pool: Pool, ask: (connection: PoolConnection) => Promise<T>): Promise<T> {
  const connection = await pool.getConnection();
  try {
    const answer = await ask(connection);
    connection.release();
    return answer;
  } catch (cause) {
    if (sqlState(cause) === '') connection.destroy();
    else connection.release();
    throw cause;
  }
}

/** As a server says it of an INSERT alone. */
class OtherRow extends Error {
  readonly sqlState = '23000';

  constructor(cause: unknown) {
    super('a unique index other than that of `id` has these values already, for another id', { cause });
  }
}

class RefusedRow extends Error {
  readonly sqlState = '22000';

  constructor(cause: unknown) {
    super(databaseReason(cause), { cause });
  }
}

async function openPool({ door, host, port, tls, database, user, password, poolSize }: DatabaseAddress): Promise<Pool> {
  const { createPool } = (await import('mysql2/promise')).default;
  const pool = createPool({
    host,
    port,
    database,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    connectionLimit: poolSize,
    maxIdle: poolSize,
    idleTimeout: IDLE_MS_MAX,
    connectTimeout: ANSWER_MS_MAX,
    // Instants are UTC, wherever this process runs.
    timezone: 'Z',
    typeCast: columnValue,
    supportBigNumbers: true,
    // A value is a value: none becomes SQL of its own.
    stringifyObjects: true,
    multipleStatements: false,
    // Unless it is told to, the driver takes a certificate for any name.
    ...(tls === undefined ? {} : { ssl: { ...tls, rejectUnauthorized: true, verifyIdentity: true } as Record<string, unknown> }),
    stream: () => door.connect({ host, port }),
  });
  // The server reads and gives instants (TIMESTAMP) in the zone of the session. One that does not take it has its own.
  pool.on('connection', (connection) => (connection as unknown as Connection).query("set time_zone = '+00:00'", () => undefined));
  return pool;
}

/** The driver knows values by their order alone. */
export function withQuestionMarks(
  text: string,
  values: readonly unknown[],
): { readonly text: string; readonly values: readonly unknown[] } {
  const placed: unknown[] = [];
  const marked = text.replace(PLACE, (found: string, number: string | undefined) => {
    // A question mark elsewhere would be taken for the place of a value.
    if (number === undefined) return found;
    placed.push(values[Number(number) - 1]);
    return '?';
  });
  return { text: marked, values: placed };
}

function columnValue(field: TypeCastField, usual: () => unknown): unknown {
  // MariaDB says of a text alone that it is JSON.
  const isJson = field.type === 'JSON' || field.extendedFormat === 'json';
  if (!isJson && field.type !== 'DECIMAL' && field.type !== 'NEWDECIMAL') return usual();
  const text = field.string('utf8');
  if (text === null) return null;
  return isJson ? exactJson(text) : exactNumber(text);
}
